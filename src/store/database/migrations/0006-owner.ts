/** Fails a transaction of whoever does not own the run any longer, so that its statements can be sent all at once. */
export const OWNER = `
CREATE FUNCTION require_owner(run UUID, wanted TEXT) RETURNS VOID LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM workflow_runs WHERE id = run AND executor = wanted FOR UPDATE;
  IF NOT FOUND THEN RAISE EXCEPTION 'Another executor has this run.' USING ERRCODE = 'KG001'; END IF;
END $$;
`
