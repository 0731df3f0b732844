/** Whose events these are where there is no run to say so: two folders can have the same path on two machines. */
export const EVENT_PLACES = `
ALTER TABLE run_events ADD COLUMN workspace_id TEXT;
`
