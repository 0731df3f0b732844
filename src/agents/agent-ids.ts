/**
 * The run under which the calls of a sub-agent are judged. Short enough for the name of a file, and begins with that of the
 * run, so that all of a run can be undone together.
 */
export function coreIdOf(run: string, execution: string): string {
  return `${run}.${execution.replaceAll('-', '').slice(0, 16)}`
}
