// A table, longer than other files on purpose: every way out of the sandbox that we know, one line each.

/**
 * A bash script that prints ESCAPED when it got through. $OUT is a folder outside the write scope with a file `file`,
 * $HIDDEN a file and $HIDDEN_DIR a folder that must not be read (both hold TOPSECRET), $HOST_PID a process of the host,
 * $HOST_PORT a server on the host's loopback that greets with TOPSECRET, $SOCKET and $NEAR_SOCKET Unix sockets of the
 * host outside and inside the workspace, $ABSTRACT an abstract one. $OPENED_PORT leads in, $REACHED_PORT to another
 * sandbox, by sockets in $BRIDGE on the host. The working folder is the workspace.
 */
export interface Attempt {
  group: string
  name: string
  script: string
}

const connect = (family: string, address: string): string =>
  `python3 -c "import socket; s = socket.socket(socket.${family}); s.settimeout(2); s.connect(${address}); print(s.recv(99))"`
const call = (number: number, ...args: (number | string)[]): string =>
  `python3 -c "import ctypes,sys; l = ctypes.CDLL(None, use_errno=True); sys.exit(0 if l.syscall(${[number, ...args].join(', ')}) >= 0 else 1)" && echo ESCAPED`
const secret = (script: string): string => `${script} 2>/dev/null | grep -aq TOPSECRET && echo ESCAPED`
const done = (script: string): string => `${script} && echo ESCAPED`

/** For each process of the sandbox that is the relay, or that could change mounts; its number is $p. */
const relays = (script: string): string =>
  `for f in /proc/[0-9]*; do p=\${f#/proc/}; [ $p = $$ ] && continue; if grep -aq "[n]etwork-relay" $f/cmdline || (( 0x$(sed -n "s/^CapPrm:.//p" $f/status) & 0x200000 )); then ${script}; fi; done 2>/dev/null`

const GROUPS: Readonly<Record<string, readonly [name: string, script: string][]>> = {
  'write outside': [
    ['redirect', done('echo x > "$OUT/file"')],
    ['append', done('echo x >> "$OUT/file"')],
    ['create', done('touch "$OUT/new"')],
    ['delete', done('rm -f "$OUT/file"')],
    ['rename over', done('echo x > new && mv -f new "$OUT/file"')],
    ['rename out', done('mv "$OUT/file" taken')],
    ['link in the workspace', done('ln -s "$OUT" away && echo x > away/file')],
    ['hard link', done('ln "$OUT/file" near && echo x > near')],
    ['mode', done('chmod 777 "$OUT/file"')],
    ['owner', done('chown 1:1 "$OUT/file"')],
    ['time', done('touch -d 2001-01-01 "$OUT/file"')],
    ['truncate', done('truncate -s 0 "$OUT/file"')],
    ['sed in place', done('sed -i s/a/b/ "$OUT/file"')],
    ['dd', done('dd if=/dev/zero of="$OUT/file" bs=1 count=1')],
    ['python', done(`python3 -c "open('$OUT/file', 'r+').write('x')"`)],
    ['through /proc/self/root', done('echo x > "/proc/self/root$OUT/file"')],
    ['through /proc/1/root', done('echo x > "/proc/1/root$OUT/file"')],
    ['dots', done('echo x > "$PWD/../outside/file"')],
    ['/etc', done('echo x > /etc/kogu-escape')],
    ['/usr', done('echo x > /usr/bin/kogu-escape')],
    ['the root folder', done('echo x > /kogu-escape')],
    ['cron', done('mkdir -p /etc/cron.d && echo "* * * * * root true" > /etc/cron.d/kogu-escape')],
    ['start-up file of the shell', done('echo x >> "$HOME/.bashrc"')],
    ['keys of ssh', done('mkdir -p "$HOME/.ssh" && echo x >> "$HOME/.ssh/authorized_keys"')],
    ['global git configuration', done('git config --global core.hooksPath /tmp/x')],
    ['the real /tmp', done('echo x > /tmp/kogu-escape && false')],
    ['shared memory of the host', done('echo x > /dev/shm/kogu-escape && false')],
  ],
  'change the walls': [
    ['remount the root', done('mount -o remount,rw /')],
    ['remount a folder', done('mount -o remount,rw,bind "$OUT"')],
    ['unmount the mask of a file', done('umount "$HIDDEN"')],
    ['unmount lazily', done('umount -l "$HIDDEN_DIR"')],
    ['bind mount', done('mount --bind "$OUT" "$PWD"')],
    ['own user namespace', done('unshare -Ur true')],
    ['own mount namespace', done('unshare -m true')],
    ['nested bubblewrap', done('bwrap --dev-bind / / true')],
    ['enter the namespaces of process 1', done('nsenter -t 1 -m true')],
    ['enter the namespaces of the host', done('nsenter -t "$HOST_PID" -a true')],
    ['chroot', done('chroot / true')],
    ['open_tree', call(428, -100, "b'/'", 1)],
    ['fsopen', call(430, "b'tmpfs'", 0)],
    ['name to handle', call(304, 3, "b''", 0)],
    ['pivot_root', call(155, "b'/'", "b'/'")],
  ],
  'read what is hidden': [
    ['cat', secret('cat "$HIDDEN"')],
    ['copy', secret('cp "$HIDDEN" copy; cat copy')],
    [
      'through the layer itself',
      secret('cat .kogu/layer/merged/hidden/secret .kogu/layer/lower/hidden/secret'),
    ],
    ['link', secret('ln -s "$HIDDEN" link; cat link')],
    ['hard link', secret('ln "$HIDDEN" hard; cat hard')],
    ['through /proc/self/root', secret('cat "/proc/self/root$HIDDEN"')],
    ['through /proc/1/root', secret('cat "/proc/1/root$HIDDEN"')],
    ['through the folder of a host process', secret('cat "/proc/$HOST_PID/root$HIDDEN"')],
    ['doubled slashes and dots', secret('cat "/./$HIDDEN"')],
    ['make it readable first', secret('chmod 777 "$HIDDEN"; cat "$HIDDEN"')],
    ['rename its folder', secret('mv "$(dirname "$HIDDEN")" moved; cat moved/secret')],
    ['files of a hidden folder', secret('cat "$HIDDEN_DIR/inner"')],
    ['search in a hidden folder', secret('grep -r . "$HIDDEN_DIR"')],
    ['archive', secret('tar cf - "$HIDDEN" "$HIDDEN_DIR"')],
    ['find', secret('find "$HIDDEN_DIR" -type f -exec cat {} +')],
    ['inherited descriptors', secret('for f in /proc/self/fd/[3-9]*; do timeout 1 cat "$f"; done')],
    [
      'the folder of an inherited descriptor',
      done('for f in /proc/self/fd/[3-9]*; do [ -d $f ] && ls $f/etc/passwd && exit; done; false'),
    ],
    ['the disk', secret('cat /dev/vda /dev/sda /dev/nvme0n1 | head -c 100000000')],
    ['a device made anew', done('mknod disk b 254 0 && head -c 1 disk')],
    ['kernel memory', done('head -c 1 /dev/mem || head -c 1 /proc/kcore || head -c 1 /dev/kmem')],
  ],
  network: [
    [
      'server on the loopback of the host',
      secret('exec 9<>/dev/tcp/127.0.0.1/$HOST_PORT; timeout 2 cat <&9'),
    ],
    ['the same over IPv6', secret(connect('AF_INET6', "('::1', $HOST_PORT)"))],
    ['an address of the Internet', done('timeout 3 bash -c "exec 9<>/dev/tcp/1.1.1.1/53"')],
    ['name resolution', done('timeout 3 getent hosts example.com')],
    [
      'datagrams',
      done(`timeout 3 python3 -c "import socket; s = socket.socket(2, 2); s.sendto(b'x', ('1.1.1.1', 53))"`),
    ],
    ['curl', done('timeout 3 curl -fsS http://1.1.1.1')],
    [
      'other interfaces than the loopback',
      done('ls /sys/class/net | grep -qv "^lo$" && ip -o link | grep -qv lo:'),
    ],
    ['raw packets', done('python3 -c "import socket; socket.socket(17, 3)"')],
    ['the virtual machine monitor', done('python3 -c "import socket; socket.socket(40, 1)"')],
    ['Unix socket of the host', secret(connect('AF_UNIX', "'$SOCKET'"))],
    ['Unix socket in the workspace', secret(connect('AF_UNIX', "'$NEAR_SOCKET'"))],
    ['abstract Unix socket', secret(connect('AF_UNIX', "'\\\\0$ABSTRACT'"))],
    ['daemon of containers', done('timeout 3 curl -s --unix-socket /var/run/docker.sock http://x/version')],
    ['message bus', done('ls /run/dbus/system_bus_socket /run/systemd/private')],
  ],
  'the relay': [
    ['see it', relays('echo ESCAPED')],
    [
      'its inspector',
      `${relays('kill -USR1 $p')}; for n in 1 2 3 4 5; do sleep 0.1; (exec 9<>/dev/tcp/127.0.0.1/9229) && echo ESCAPED && break; done 2>/dev/null`,
    ],
    [
      'attach to it',
      relays(
        'python3 -c "import ctypes,sys; sys.exit(ctypes.CDLL(None).ptrace(16, $p, 0, 0))" && echo ESCAPED',
      ),
    ],
    ['its memory', relays('(exec 9<>/proc/$p/mem) && echo ESCAPED')],
    ['its root', relays('ls /proc/$p/root/ && echo ESCAPED')],
    ['its descriptors', relays('ls /proc/$p/fd/ && echo ESCAPED')],
    ['stop it', relays('kill -STOP $p && echo ESCAPED')],
    ['enter its namespaces', relays('nsenter -t $p -m -p true && echo ESCAPED')],
    ['own rights', done('(( 0x$(sed -n "s/^CapPrm:.//p" /proc/self/status) & 0x200100 ))')],
    ['descriptors left open', done('ls -l /proc/self/fd | grep -E "arguments-|status-|filters/"')],
    [
      'settings of the kernel',
      done('touch /proc/sys/kernel/core_pattern && [ -w /proc/sys/vm/drop_caches ]'),
    ],
  ],
  ports: [
    ['see the sockets', done('ls /run/kogu-ports/* | grep -q .')],
    ['the folder on the host', done('ls "$BRIDGE"/* | grep -q .')],
    ['connect to an opened one', done(connect('AF_UNIX', "'/run/kogu-ports/own/$OPENED_PORT'"))],
    ['connect to a reached one', done(connect('AF_UNIX', "'/run/kogu-ports/0/$REACHED_PORT'"))],
    ['connect to it on the host', done(connect('AF_UNIX', "'$BRIDGE/reached/$REACHED_PORT'"))],
    [
      'a link in the place of one',
      done('mkdir -p /run/kogu-ports/own; ln -sf "$SOCKET" /run/kogu-ports/own/$OPENED_PORT'),
    ],
    ['a link beside it', done('ln -s "$SOCKET" /run/kogu-ports/own/1')],
    ['the same through process 1', done('ln -s "$SOCKET" /proc/1/root/run/kogu-ports/own/2')],
    ['uncover them', done('umount /run/kogu-ports || umount -l /run/kogu-ports')],
    ['move what covers them', done('mv /run/kogu-ports /run/other || rmdir /run/kogu-ports')],
    ['cover them with own ones', done('mount -t tmpfs none /run/kogu-ports')],
    ['another port of the host', secret('exec 9<>/dev/tcp/127.0.0.1/$HOST_PORT; timeout 2 cat <&9')],
    ['the same over IPv6', secret(connect('AF_INET6', "('::1', $HOST_PORT)"))],
    [
      'the way as a proxy',
      secret(
        'exec 9<>/dev/tcp/127.0.0.1/$REACHED_PORT; printf "CONNECT 127.0.0.1:$HOST_PORT HTTP/1.1\r\n\r\n" >&9; timeout 2 cat <&9',
      ),
    ],
    [
      'its own opened port as a way out',
      secret('exec 9<>/dev/tcp/127.0.0.1/$OPENED_PORT; timeout 2 cat <&9'),
    ],
    [
      'take the place of the relay',
      done(
        `python3 -c "import socket; s = socket.socket(); s.setsockopt(1, 2, 1); s.setsockopt(1, 15, 1); s.bind(('127.0.0.1', $REACHED_PORT)); s.listen()"`,
      ),
    ],
    ['an address of the Internet', done('timeout 3 bash -c "exec 9<>/dev/tcp/1.1.1.1/53"')],
  ],
  'processes and kernel of the host': [
    ['signal', done('kill -0 "$HOST_PID"')],
    ['kill everything', 'kill -9 -1; true'],
    ['see it', done('grep -q HOSTSECRET "/proc/$HOST_PID/environ"')],
    ['list it', done('ps ax | grep -q "[h]ost-process-marker"')],
    [
      'attach to it',
      done(
        `python3 -c "import ctypes,os,sys; sys.exit(ctypes.CDLL(None).ptrace(16, int(os.environ['HOST_PID']), 0, 0))"`,
      ),
    ],
    ['core pattern', done('echo "|/tmp/x" > /proc/sys/kernel/core_pattern')],
    [
      'program of process 1',
      done('echo x >> /proc/1/exe || (exec 9</proc/1/exe; echo x >> /proc/self/fd/9)'),
    ],
    [
      'kernel settings',
      done('for f in $(find /proc/sys -type f -writable | head -50); do cat $f > $f && exit 0; done; false'),
    ],
    ['affinity of interrupts', done('echo 1 > /proc/irq/default_smp_affinity')],
    ['memory ranges', done('echo x > /proc/mtrr')],
    ['sysrq', done('echo h > /proc/sysrq-trigger')],
    ['memory settings', done('echo 1 > /proc/sys/vm/drop_caches')],
    ['control groups', done('mkdir /sys/fs/cgroup/pids/kogu-escape || mkdir /sys/fs/cgroup/kogu-escape')],
    ['leave the control group', done('echo $$ > /sys/fs/cgroup/pids/cgroup.procs')],
    ['kernel module', done('insmod /dev/null')],
    ['kernel log', done('dmesg | grep -q .')],
    ['keyring', call(250, 0, -3, 0)],
    ['BPF', call(321, 0, 0, 0)],
    ['io_uring', call(425, 8, 'ctypes.create_string_buffer(200)')],
    ['userfaultfd', call(323, 1)],
    ['performance events', call(298, 'ctypes.create_string_buffer(200)', 0, -1, -1, 0)],
    ['host name', done('hostname kogu-escape')],
    ['clock', done('date -s 2001-01-01')],
    ['become root by a set-user-id program', done('sudo -n true || su -c true </dev/null')],
    [
      'own set-user-id program',
      done('cp /bin/bash own && chmod 4755 own && ./own -p -c "echo x > /etc/kogu-escape"'),
    ],
    ['shared memory segments of the host', done('ipcs -m | grep -q "^0x"')],
    ['words into the terminal', done(`python3 -c "import fcntl; fcntl.ioctl(0, 0x5412, b'x')"`)],
  ],
  'survive the end': [
    ['background job', '(sleep 1; touch survived) & disown'],
    ['own session', 'setsid bash -c "sleep 1; touch survived" >/dev/null 2>&1 &'],
    ['no hang-up', 'nohup bash -c "sleep 1; touch survived" >/dev/null 2>&1 &'],
    ['double fork', '(setsid bash -c "(sleep 1; touch survived) &" &) >/dev/null 2>&1'],
    ['scheduled job', done('echo "touch survived" | at now')],
    ['service', done('systemd-run --user true || systemd-run true')],
    ['raise the limit of open files', done('ulimit -n 1000000')],
    ['raise the limit of processes', done('prlimit --nproc=unlimited true')],
  ],
  'git and Kogu': [
    ['hook', done('echo x > .git/hooks/pre-commit')],
    ['configuration', done('git config core.fsmonitor /tmp/x')],
    ['configuration by hand', done('echo x >> .git/config')],
    ['delete the hooks', done('rm -rf .git/hooks')],
    ['replace .git', done('mv .git old && mkdir -p .git/hooks && echo x > .git/hooks/pre-commit')],
    ['replace the hooks by a link', done('mv .git/hooks away && ln -s /tmp .git/hooks')],
    ['hook of a nested repository', done('echo x > nested/.git/hooks/pre-commit')],
    ['replace a nested repository', done('mv nested other && mkdir -p nested/.git/hooks')],
    ["Kogu's configuration", done('echo x >> .kogu/config.toml')],
    ["replace Kogu's folder", done('mv .kogu old-kogu && mkdir .kogu')],
    ["delete Kogu's folder", done('rm -rf .kogu')],
    ['settings of the workspace', done('echo x >> kogu.toml')],
    ["Kogu's state", done('echo "{}" > "$STATE/grants.json"')],
    ["read Kogu's token", secret('cat "$STATE/token"')],
  ],
}

export const ATTEMPTS: readonly Attempt[] = Object.entries(GROUPS).flatMap(([group, attempts]) =>
  attempts.map(([name, script]) => ({ group, name, script })),
)
