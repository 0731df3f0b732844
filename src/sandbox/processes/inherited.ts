import { existsSync, readdirSync, readFileSync } from 'node:fs'

/**
 * Descriptors that this process got from whoever started it and that would reach every program it starts: an open
 * folder among them is a way around all walls. Node's own are closed by exec.
 */
export function inheritedDescriptors(): number[] {
  const names = existsSync('/proc/self/fdinfo') ? readdirSync('/proc/self/fdinfo') : []
  return names.map(Number).filter(descriptor => descriptor > 2 && !isClosedByExec(descriptor))
}

function isClosedByExec(descriptor: number): boolean {
  try {
    const flags =
      /^flags:\s+(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8'))?.[1] ?? '0'
    return (Number.parseInt(flags, 8) & 0o2000000) !== 0
  } catch {
    // The one that listed the folder is gone by now.
    return true
  }
}
