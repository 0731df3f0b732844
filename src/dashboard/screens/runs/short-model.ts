/** A rehearsal is a file; its folder says nothing about the run. */
export function shortModel(model: string): string {
  return model.replace(/^rehearsal:.*\//, 'rehearsal:')
}
