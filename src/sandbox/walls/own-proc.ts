/**
 * The sandbox's own /proc as arguments for bubblewrap: without its first process, which is Kogu's and whose memory can be
 * written there by no other system call than write, and read-only, because root could change the kernel's settings in
 * /proc/sys (bubblewrap 0.8 leaves it open). Where a container forbids a new one, it is empty: the host's would show the
 * host's processes.
 */
export function toOwnProc(newProc: boolean): string[] {
  const cover = ['--perms', '0000', '--tmpfs', '/proc/1', '--remount-ro', '/proc/1']
  return [newProc ? '--proc' : '--tmpfs', '/proc', ...(newProc ? cover : []), '--remount-ro', '/proc']
}
