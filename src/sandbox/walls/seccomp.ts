// System calls that no sandboxed program needs and that widen what it can attack: a classic BPF program as bytes, the
// form in which bubblewrap takes it (`--seccomp`). A call that is refused fails with an error; it does not kill.
//
// Blocked on purpose although programs do use them: io_uring (its operations pass by this filter), new user
// namespaces (a fresh set of capabilities), sockets of other families (vsock reaches the machine that hosts a virtual
// machine and is not confined by network namespaces), and Unix sockets unless the profile allows them: a read-only
// mount does not keep anyone from connecting to a socket in it. Nor may one process reach into another (ptrace and its
// kin): the first process of the sandbox is Kogu's, and what frees it from its parent outlives the call. Where no control group counts memory, also memory that
// belongs to no process: files in memory without a name (memfd), large segments of System V (there may be 4096), and
// larger buffers of sockets, which the watchdog counts at their default size.

export interface SeccompOptions {
  unixSockets: boolean
  /** Memory that is held by a descriptor or a key alone. Only a control group sees it. */
  unmappedMemory: boolean
  /** No sockets and no new processes: for one program of ours that needs threads only. */
  onlyThreads?: boolean
}

/** Whether there can be a filter at all. */
export function hasFilter(architecture: string): boolean {
  return TABLES[architecture] !== undefined
}

/** The filter for this processor, or undefined where we have no table of its system calls. */
export function seccompFilter(architecture: string, options: SeccompOptions): Uint8Array | undefined {
  const table = TABLES[architecture]
  if (table === undefined) return undefined
  const program = [
    load(OFFSET_ARCH),
    ...unlessEqual(table.audit, [refuse(ENOSYS)]),
    load(OFFSET_NUMBER),
    // The x32 calls of x86-64 have numbers of their own and would pass by every line below.
    jump(JGE, 0x40000000, 0, 1),
    refuse(ENOSYS),
    ...table.refused.flatMap(number => whenEqual(number, [refuse(EPERM)])),
    // Its flags lie behind a pointer, where a filter cannot look; the C library then uses clone.
    ...table.missing.flatMap(number => whenEqual(number, [refuse(ENOSYS)])),
    ...(options.onlyThreads === true ? refuseProcesses(table) : []),
    ...[table.clone, table.unshare].flatMap(number =>
      whenEqual(number, [load(argument(0)), jump(JSET, NEW_NAMESPACES, 0, 1), refuse(EPERM), allow()]),
    ),
    ...(options.unmappedMemory ? [] : refuseUnmappedMemory(table)),
    ...whenEqual(table.ioctl, [
      load(argument(1)),
      ...FORBIDDEN_IOCTLS.flatMap(request => whenEqual(request, [refuse(EPERM)])),
      allow(),
    ]),
    ...whenEqual(table.socket, [
      load(argument(0)),
      ...(options.unixSockets ? whenEqual(AF_UNIX, [allow()]) : whenEqual(AF_UNIX, [refuse(EACCES)])),
      ...SOCKET_FAMILIES.flatMap(family => whenEqual(family, [allow()])),
      refuse(EAFNOSUPPORT),
    ]),
    allow(),
  ]
  return encode(program)
}

function refuseProcesses(table: CallTable): Instruction[] {
  return [
    ...table.processes.flatMap(number => whenEqual(number, [refuse(EPERM)])),
    ...whenEqual(table.clone, [load(argument(0)), jump(JSET, CLONE_THREAD, 1, 0), refuse(EPERM)]),
    // The number again: the lines that follow compare it.
    load(OFFSET_NUMBER),
    ...whenEqual(table.socket, [refuse(EACCES)]),
  ]
}

function refuseUnmappedMemory(table: CallTable): Instruction[] {
  return [
    ...table.memoryFiles.flatMap(number => whenEqual(number, [refuse(ENOSYS)])),
    ...whenEqual(table.shmget, [
      load(argument(1) + 4),
      ...unlessEqual(0, [refuse(ENOMEM)]),
      load(argument(1)),
      jump(JGE, LARGE_SEGMENT, 0, 1),
      refuse(ENOMEM),
      allow(),
    ]),
    ...whenEqual(table.setsockopt, [
      load(argument(1)),
      ...unlessEqual(SOL_SOCKET, [allow()]),
      load(argument(2)),
      // Said to be done: programs take any size they get, but not a failure.
      ...BUFFER_SIZES.flatMap(option => whenEqual(option, [refuse(NO_ERROR)])),
      allow(),
    ]),
  ]
}

interface Instruction {
  code: number
  ifTrue: number
  ifFalse: number
  value: number
}

const LOAD = 0x20
const JEQ = 0x15
const JGE = 0x35
const JSET = 0x45
const RETURN = 0x06
const ALLOW = 0x7fff0000
const ERRNO = 0x00050000

const NO_ERROR = 0
const EPERM = 1
const ENOMEM = 12
const EACCES = 13
const ENOSYS = 38
const EAFNOSUPPORT = 97

// struct seccomp_data: number, architecture, instruction pointer, six arguments of 64 bits (little endian).
const OFFSET_NUMBER = 0
const OFFSET_ARCH = 4
const argument = (index: number): number => 16 + 8 * index

/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. */
const NEW_NAMESPACES = 0x7e020000
const CLONE_THREAD = 0x00010000
/** TIOCSTI and TIOCLINUX: put words into the input of whoever owns the terminal. */
const FORBIDDEN_IOCTLS = [0x5412, 0x541c]
const LARGE_SEGMENT = 64 * 1024
const SOL_SOCKET = 1
/** SO_SNDBUF and SO_RCVBUF; the two that go beyond the system's maximum need a right that no command has. */
const BUFFER_SIZES = [7, 8]
const AF_UNIX = 1
/** IPv4, IPv6 and netlink (which lists network interfaces). */
const SOCKET_FAMILIES = [2, 10, 16]

const load = (offset: number): Instruction => ({ code: LOAD, ifTrue: 0, ifFalse: 0, value: offset })
const jump = (code: number, value: number, ifTrue: number, ifFalse: number): Instruction => ({
  code,
  ifTrue,
  ifFalse,
  value,
})
const allow = (): Instruction => ({ code: RETURN, ifTrue: 0, ifFalse: 0, value: ALLOW })
const refuse = (error: number): Instruction => ({ code: RETURN, ifTrue: 0, ifFalse: 0, value: ERRNO | error })
const whenEqual = (value: number, then: Instruction[]): Instruction[] => [
  jump(JEQ, value, 0, then.length),
  ...then,
]
const unlessEqual = (value: number, then: Instruction[]): Instruction[] => [
  jump(JEQ, value, then.length, 0),
  ...then,
]

function encode(program: readonly Instruction[]): Uint8Array {
  const bytes = Buffer.alloc(program.length * 8)
  for (const [index, { code, ifTrue, ifFalse, value }] of program.entries()) {
    bytes.writeUInt16LE(code, index * 8)
    bytes.writeUInt8(ifTrue, index * 8 + 2)
    bytes.writeUInt8(ifFalse, index * 8 + 3)
    bytes.writeUInt32LE(value, index * 8 + 4)
  }
  return bytes
}

interface CallTable {
  /** AUDIT_ARCH_*: calls made in the mode of another processor have other numbers. */
  audit: number
  refused: readonly number[]
  missing: readonly number[]
  memoryFiles: readonly number[]
  /** Other ways to start a process, or to reach into one. */
  processes: readonly number[]
  shmget: number
  setsockopt: number
  clone: number
  unshare: number
  ioctl: number
  socket: number
}

/** Numbers that are the same on all processors, because the calls are younger than the common table. */
const YOUNG = {
  // open_tree, move_mount, fsopen, fsconfig, fsmount, fspick, pidfd_getfd, process_madvise, mount_setattr
  refused: [428, 429, 430, 431, 432, 433, 438, 440, 442],
  // io_uring_setup, io_uring_enter, io_uring_register, clone3
  missing: [425, 426, 427, 435],
}

const TABLES: Readonly<Record<string, CallTable>> = {
  x64: {
    audit: 0xc000003e,
    refused: [
      ...YOUNG.refused,
      // ptrace, migrate_pages, move_pages, process_vm_readv, process_vm_writev
      ...[101, 256, 279, 310, 311],
      // syslog, modify_ldt, pivot_root, adjtimex, chroot, acct, settimeofday, mount, umount2, swapon, swapoff
      ...[103, 154, 155, 159, 161, 163, 164, 165, 166, 167, 168],
      // reboot, iopl, ioperm, init_module, delete_module, quotactl, lookup_dcookie, clock_settime, kexec_load
      ...[169, 172, 173, 175, 176, 179, 212, 227, 246],
      // add_key, request_key, keyctl, perf_event_open, open_by_handle_at, clock_adjtime, setns, kcmp, finit_module
      ...[248, 249, 250, 298, 304, 305, 308, 312, 313],
      // kexec_file_load, bpf, userfaultfd
      ...[320, 321, 323],
    ],
    missing: YOUNG.missing,
    // memfd_create, memfd_secret
    memoryFiles: [319, 447],
    // fork, vfork, ptrace, process_vm_readv, process_vm_writev, execveat
    processes: [57, 58, 101, 310, 311, 322],
    shmget: 29,
    setsockopt: 54,
    clone: 56,
    unshare: 272,
    ioctl: 16,
    socket: 41,
  },
  arm64: {
    audit: 0xc00000b7,
    refused: [
      ...YOUNG.refused,
      // ptrace, migrate_pages, move_pages, process_vm_readv, process_vm_writev
      ...[117, 238, 239, 270, 271],
      // lookup_dcookie, umount2, mount, pivot_root, chroot, quotactl, acct, kexec_load, init_module, delete_module
      ...[18, 39, 40, 41, 51, 60, 89, 104, 105, 106],
      // clock_settime, syslog, reboot, settimeofday, adjtimex, add_key, request_key, keyctl, swapon, swapoff
      ...[112, 116, 142, 170, 171, 217, 218, 219, 224, 225],
      // perf_event_open, open_by_handle_at, clock_adjtime, setns, kcmp, finit_module, bpf, userfaultfd, kexec_file_load
      ...[241, 265, 266, 268, 272, 273, 280, 282, 294],
    ],
    missing: YOUNG.missing,
    // memfd_create, memfd_secret
    memoryFiles: [279, 447],
    // ptrace, process_vm_readv, process_vm_writev, execveat
    processes: [117, 270, 271, 281],
    shmget: 194,
    setsockopt: 208,
    clone: 220,
    unshare: 97,
    ioctl: 29,
    socket: 198,
  },
}
