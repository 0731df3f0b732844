/** The text with another name for a folder, only where it stands as one: `/w` is no part of `/x/w` or `/work`. */
export function renameFolder(text: string, folder: string, name: string): string {
  const [first = '', ...rest] = text.split(folder)
  return rest.reduce((before, after) => {
    const isFolder = !/[^\s'"(,;:=]$/.test(before) && /^(?:[/\s'"),;:]|$)/.test(after)
    return `${before}${isFolder ? name : folder}${after}`
  }, first)
}
