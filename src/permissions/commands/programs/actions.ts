import {
  ACCOUNT,
  type Action,
  act,
  BUILD,
  CHECK,
  CONTAINER,
  CONTAINER_CHANGE,
  NET,
  PUBLISH,
  RUNNER,
  SECRETS,
  SHELL_STATE,
} from './action.ts'
import { actionByArguments } from './actions-by-arguments.ts'

const groups: readonly (readonly [string, Action])[] = [
  [
    'touch mkdir mkfifo mktemp install tee truncate split csplit dos2unix unix2dos',
    act('caution', 'creates or changes files', ['writes-files'], 'write'),
  ],
  ['cp ditto', act('caution', 'copies files', ['reads-files', 'writes-files'], 'copy')],
  ['ln link', act('caution', 'makes links', ['writes-files'], 'copy')],
  ['rsync', act('caution', 'copies files', ['reads-files', 'writes-files'], 'copy')],
  [
    'chmod chown chgrp setfacl chattr xattr',
    act(
      'caution',
      'changes permissions of files',
      ['changes-permissions', 'writes-files'],
      'skip-first-write',
    ),
  ],
  [
    'rm unlink rmdir shred srm trash trash-put',
    act('dangerous', 'deletes files', ['deletes-files'], 'delete'),
  ],
  [
    'mv rename',
    act('dangerous', 'moves files, and may replace others', ['writes-files', 'deletes-files'], 'move'),
  ],
  ['dd', act('dangerous', 'copies raw data', ['reads-files', 'writes-files'])],
  ['patch', act('caution', 'changes files', ['writes-files'], 'write')],
  [
    'zip 7z 7za rar ar cpio pax',
    act('caution', 'reads and writes archives', ['reads-files', 'writes-files'], 'archive'),
  ],
  [
    'tar unzip gzip gunzip bzip2 bunzip2 xz unxz zstd compress uncompress',
    act('caution', 'packs or unpacks files', ['reads-files', 'writes-files'], 'read'),
  ],
  [
    'sed gsed awk gawk mawk nawk',
    act('unknown', 'may write files or run programs', ['writes-files', 'runs-code'], 'read'),
  ],
  [
    'sort uniq xxd tree file date iconv base64',
    act('caution', 'may write with these options', ['writes-files'], 'read'),
  ],
  ['sleep tail', act('caution', 'goes on for a long time', ['reads-files'], 'read')],
  ['env printenv set export declare typeset readonly local', SECRETS],
  [
    'alias unalias unset shopt hash enable bind complete compgen compopt ulimit umask setopt trap read mapfile readarray let getopts',
    SHELL_STATE,
  ],
  ['history fc', act('caution', 'shows or changes the history of commands', ['reads-environment'])],
  [
    'exit return break continue shift wait jobs fg bg disown times dirs popd pushd suspend logout',
    act('caution', 'controls the shell itself', []),
  ],
  ['curl wget fetch http https xh aria2c lynx links w3m axel', NET],
  ['ping ping6 traceroute tracepath mtr dig nslookup host whois arp getent', NET],
  [
    'nc ncat netcat telnet socat nmap tcpdump wireshark tshark openssl',
    act('unknown', 'opens network connections', ['network', 'sends-data']),
  ],
  [
    'scp sftp ftp rcp lftp rclone',
    act('dangerous', 'copies files to or from another machine', ['network', 'sends-data', 'writes-files']),
  ],
  ['ssh mosh rsh', act('unknown', 'runs something on another machine', ['network', 'remote-shell'])],
  ['kill', act('caution', 'signals processes', ['process-control'])],
  ['pkill killall xkill skill', act('dangerous', 'stops processes by name', ['process-control'])],
  [
    'systemctl service rc-service launchctl initctl update-rc.d chkconfig journalctl',
    act('caution', 'talks to the service manager', ['system-change']),
  ],
  [
    'sysctl mount umount swapon swapoff losetup cryptsetup lvm lvremove vgremove pvremove mdadm fsck e2fsck tune2fs resize2fs',
    act('dangerous', 'changes disks or kernel settings', ['system-change']),
  ],
  [
    'useradd userdel usermod adduser deluser groupadd groupdel passwd chpasswd chsh chfn gpasswd visudo vipw',
    ACCOUNT,
  ],
  [
    'iptables ip6tables nft ufw firewall-cmd ifconfig ip route tc hostnamectl timedatectl localectl hwclock nmcli brctl',
    act('dangerous', 'changes network or machine settings', ['system-change']),
  ],
  ['crontab at batch', act('dangerous', 'schedules commands', ['system-change', 'runs-code', 'background'])],
  [
    'make gmake ninja meson bazel buck gradle gradlew mvn ant sbt rake just task tox nox invoke scons waf',
    BUILD,
  ],
  ['pytest jest vitest mocha ava karma cypress playwright phpunit rspec ctest nosetests unittest', BUILD],
  [
    'tsc eslint prettier biome ruff black isort flake8 pylint mypy pyright rubocop clippy-driver rustfmt gofmt clang-format clang-tidy shellcheck golangci-lint stylelint tslint',
    CHECK,
  ],
  [
    'gcc g++ cc c++ clang clang++ rustc javac ld as cmake webpack rollup vite esbuild parcel swc babel tsup turbo nx lerna',
    BUILD,
  ],
  ['npx bunx uvx pipx', RUNNER],
  [
    'python python2 python3 pypy3 node nodejs deno bun ruby perl php lua luajit Rscript julia ts-node tsx java groovy scala kotlin swift elixir osascript tclsh wish expect guile racket sbcl dotnet',
    act('unknown', 'runs code', ['runs-code'], 'read'),
  ],
  [
    'bash sh dash zsh ksh fish csh tcsh ash mksh pwsh powershell',
    act('unknown', 'runs a shell script', ['runs-code'], 'read'),
  ],
  [
    'source . eval exec',
    act('unknown', 'runs code inside the shell', ['runs-code', 'changes-environment'], 'read'),
  ],
  ['docker podman nerdctl docker-compose lxc lxd incus virsh vagrant', CONTAINER],
  [
    'kubectl helm minikube kind k9s oc terraform pulumi ansible ansible-playbook aws gcloud az heroku fly flyctl vercel netlify wrangler doctl',
    act('caution', 'talks to a cluster or cloud account', ['containers', 'network']),
  ],
  ['gh hub glab', act('caution', 'talks to a code hosting service', ['network'])],
  [
    'apt apt-get aptitude dnf yum pacman zypper apk snap flatpak brew port emerge nix nix-env dpkg rpm',
    act('caution', 'manages packages of the machine', ['system-change', 'network']),
  ],
  [
    'npm pnpm yarn pip pip3 poetry uv conda mamba cargo go gem bundle composer rustup nvm volta',
    act('caution', 'manages packages or runs the project', ['runs-code', 'package-scripts']),
  ],
  [
    'psql mysql mariadb sqlite3 mongosh mongo redis-cli clickhouse-client cqlsh mysqldump pg_dump pg_restore',
    act('unknown', 'works on a database', ['database']),
  ],
  [
    'gpg gpg2 age ssh-keygen ssh-add ssh-copy-id pass security keyctl',
    act('dangerous', 'works with keys and secrets', ['reads-environment']),
  ],
  ['nohup setsid disown daemonize', act('caution', 'leaves a process running', ['background'])],
  ['open xdg-open start explorer code subl', act('caution', 'opens another program', ['runs-code'])],
  ['mail sendmail mutt mailx', act('dangerous', 'sends mail', ['network', 'sends-data'])],
  [
    'logger wall write notify-send say pbcopy xclip xsel wl-copy clip',
    act('caution', 'sends text to other programs or the clipboard', []),
  ],
  ['docker-machine', CONTAINER_CHANGE],
  ['semantic-release np release-it goreleaser ovsx', PUBLISH],
  ['twine vsce flit hatch', act('caution', 'builds or checks packages', ['runs-code', 'network'])],
  ['gdb lldb', act('unknown', 'runs a program under a debugger', ['runs-code'], 'read')],
]

const ACTIONS: ReadonlyMap<string, Action> = new Map(
  groups.flatMap(([names, action]) => names.split(' ').map((name): [string, Action] => [name, action])),
)

/** The action for a known program with these arguments; null when the program is not known. */
export function findAction(program: string, joined: string): Action | null {
  // The build wrapper of a project publishes as the program that it stands for, but is a file of the project.
  const name = program.replace(/^\.\/(gradle|mvn)w$/, '$1')
  return actionByArguments(name, joined) ?? ACTIONS.get(program) ?? null
}
