/*
 * Tries to outlive its call: frees the sandbox's first process from the signal that ends it with its parent, and leaves a
 * child that keeps a descriptor on a file which is brought over later. Prints REACHED for every hand it gets on that
 * process. Arguments: the file to hold, and a word that marks its processes.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <sys/user.h>
#endif

static void reached(const char *what) {
  printf("REACHED %s\n", what);
  fflush(stdout);
}

/* Makes process 1 call prctl(PR_SET_PDEATHSIG, 0) and go on as if nothing had been. */
static void free_init(void) {
  if (ptrace(PTRACE_ATTACH, 1, 0, 0) != 0) return;
  reached("ptrace");
#if defined(__x86_64__)
  struct user_regs_struct saved, changed;
  int status;
  waitpid(1, &status, __WALL);
  ptrace(PTRACE_GETREGS, 1, 0, &saved);
  changed = saved;
  changed.rip -= 2; /* it stands right after a system call's instruction */
  changed.rax = SYS_prctl;
  changed.orig_rax = -1;
  changed.rdi = PR_SET_PDEATHSIG;
  changed.rsi = 0;
  ptrace(PTRACE_SETREGS, 1, 0, &changed);
  ptrace(PTRACE_SINGLESTEP, 1, 0, 0);
  waitpid(1, &status, __WALL);
  ptrace(PTRACE_SETREGS, 1, 0, &saved);
  ptrace(PTRACE_DETACH, 1, 0, 0);
#endif
}

static void other_hands(void) {
  static const char *const files[] = {"mem", "maps", "task/1/mem", "environ", "fd/0", "root/etc/passwd", "cwd", "syscall"};
  char path[64];
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    snprintf(path, sizeof path, "/proc/1/%s", files[i]);
    if (open(path, O_RDWR) >= 0 || open(path, O_RDONLY) >= 0) reached(path);
  }
  char byte;
  struct iovec here = {&byte, 1}, there = {&byte, 1};
  if (syscall(SYS_process_vm_readv, getpid(), &here, 1, &there, 1, 0) > 0) reached("process_vm_readv");
  if (syscall(SYS_process_vm_writev, getpid(), &here, 1, &here, 1, 0) > 0) reached("process_vm_writev");
  if (syscall(SYS_kcmp, 1, getpid(), 2, 0, 0) >= 0) reached("kcmp");
  int pidfd = syscall(434 /* pidfd_open */, 1, 0);
  if (pidfd >= 0 && syscall(438 /* pidfd_getfd */, pidfd, 0, 0) >= 0) reached("pidfd_getfd");
}

int main(int count, char **words) {
  if (count < 2) return 2;
  free_init();
  other_hands();
  int held = open(words[1], O_RDWR | O_CREAT | O_TRUNC, 0644);
  if (held < 0 || write(held, "judged\n", 7) != 7) return 3;
  if (fork() == 0) {
    setsid();
    for (int i = 0; i < 3; i++) close(i);
    for (;;) {
      if (pwrite(held, "OWNED!\n", 7, 0) != 7) return 1;
      usleep(2000);
    }
  }
  return 0;
}
