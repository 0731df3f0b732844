/** What a question was about, so that those that have ended can be listed without the call. */
export const APPROVALS = `
ALTER TABLE approvals ADD COLUMN tool_name VARCHAR(100), ADD COLUMN input JSONB;
CREATE INDEX idx_approvals_created ON approvals (created_at, id);
`
