/** The folder that a run belongs to: nobody else has its files, its undo records and its audit log. */
export interface RunPlace {
  readonly workspace: string
  /** Of the folder itself; another machine or container may have other files under the same path. */
  readonly workspaceId: string
}

/**
 * The condition "of this place" for the rows of a table, with the numbers of the two parameters. Rows that were written before
 * folders had ids belong to their path.
 */
export function ofPlace(table: string, workspace: `$${number}`, workspaceId: `$${number}`): string {
  return `${table}.workspace = ${workspace} AND (${table}.workspace_id IS NULL OR ${table}.workspace_id = ${workspaceId})`
}
