/** What reviewers cost counts for the run that they looked at: it is summed up before every turn. */
export const REVIEWS = `
CREATE INDEX idx_usage_reviews ON usage (workflow_run_id) WHERE execution_id IS NULL;
`
