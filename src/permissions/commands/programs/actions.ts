// Longer than 400 lines allowed: the table of known programs that do more than read.
import type { EffectName } from '../../effect-names.ts'
import type { Level } from '../types.ts'

/** What operands are touched: `copy`/`move` read all but the last and write the last; `archive` may do either with each. */
export type Targets = 'none' | 'read' | 'write' | 'delete' | 'copy' | 'move' | 'skip-first-write' | 'archive'

export interface Action {
  level: Level
  text: string
  effects: EffectName[]
  targets: Targets
}

function act(level: Level, text: string, effects: EffectName[], targets: Targets = 'none'): Action {
  return { level, text, effects, targets }
}

const BUILD = act('caution', 'builds or tests the project, which runs its code', [
  'runs-code',
  'writes-files',
])
const CHECK = act('caution', 'checks the project with its own configuration, which can run code', [
  'runs-code',
])
const INSTALL = act('caution', 'installs packages, which can run their scripts', [
  'package-scripts',
  'network',
  'writes-files',
])
const RUNNER = act('unknown', 'downloads and runs a package', ['runs-code', 'network', 'package-scripts'])
const NET = act('caution', 'contacts another machine', ['network'])
const SERVICE = act('dangerous', 'changes services of the machine', ['system-change'])
const ACCOUNT = act('dangerous', 'changes accounts of the machine', ['system-change', 'privilege'])
const PUBLISH = act('dangerous', 'publishes a package', ['publishes', 'network', 'sends-data'])
const PUBLISH_IMAGE = act('dangerous', 'publishes an image', [
  'publishes',
  'containers',
  'network',
  'sends-data',
])
const PYTHON_UPLOAD =
  /(?:^|\s)-m (?:twine (?:\S+ )*?(?:upload|register)|(?:flit|hatch|poetry) publish)\b|\bsetup\.py (?:\S+ )*?(?:upload|register)\b/
const CONTAINER = act('caution', 'talks to the container service', ['containers'])
const CONTAINER_CHANGE = act('dangerous', 'changes or deletes containers, images or volumes', ['containers'])
const CLUSTER = act('dangerous', 'changes a cluster or cloud account', [
  'containers',
  'network',
  'sends-data',
])
const SECRETS = act('caution', 'prints variables, which may hold secrets', ['reads-environment'])
const LISTS = act('unknown', 'lists what the machine has', ['reads-files'])
const SHELL_STATE = act('unknown', 'changes the shell itself', ['changes-environment'])

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
    act('caution', 'changes rights of files', ['changes-permissions', 'writes-files'], 'skip-first-write'),
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
    act('caution', 'steers the shell itself', []),
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
  [
    'crontab at batch',
    act('dangerous', 'plans commands for later', ['system-change', 'runs-code', 'background']),
  ],
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
    'gpg gpg2 age ssh-keygen ssh-add ssh-agent ssh-copy-id pass security keyctl',
    act('dangerous', 'works with keys and secrets', ['reads-environment']),
  ],
  ['nohup setsid disown daemonize', act('caution', 'leaves a process running', ['background'])],
  ['open xdg-open start explorer code subl', act('caution', 'opens another program', ['runs-code'])],
  ['mail sendmail mutt mailx', act('dangerous', 'sends mail', ['network', 'sends-data'])],
  [
    'logger wall write notify-send say pbcopy xclip xsel wl-copy clip',
    act('caution', 'shows or keeps text elsewhere', []),
  ],
  ['docker-machine', CONTAINER_CHANGE],
  ['semantic-release np release-it goreleaser ovsx', PUBLISH],
  ['twine vsce flit hatch', act('caution', 'builds or checks packages', ['runs-code', 'network'])],
  ['gdb lldb', act('unknown', 'runs a program under a debugger', ['runs-code'], 'read')],
]

const ACTIONS: ReadonlyMap<string, Action> = new Map(
  groups.flatMap(([names, action]) => names.split(' ').map((name): [string, Action] => [name, action])),
)

/** By program: the first pattern that fits the arguments (joined with blanks) decides instead of the table above. */
const REFINED: Readonly<Record<string, readonly (readonly [RegExp, Action])[]>> = {
  chmod: [
    [
      /(?:^|\s)(?:-\S*R|--recursive|[0-7]*7[0-7]?7\b|a\+\S*w|o\+\S*w|\+s|u\+s|[2467][0-7]{3}\b)/,
      act(
        'dangerous',
        'opens rights widely or changes a whole tree',
        ['changes-permissions', 'writes-files'],
        'skip-first-write',
      ),
    ],
  ],
  chown: [
    [
      /(?:^|\s)(?:-\S*R|--recursive)/,
      act(
        'dangerous',
        'changes owners of a whole tree',
        ['changes-permissions', 'writes-files'],
        'skip-first-write',
      ),
    ],
  ],
  rsync: [
    [
      /(?:^|\s)--del/,
      act(
        'dangerous',
        'copies and deletes files',
        ['writes-files', 'deletes-files', 'delete-recursive'],
        'copy',
      ),
    ],
    [
      /\w:|(?:^|\s)(?:-e|--rsh)/,
      act(
        'dangerous',
        'copies files to or from another machine',
        ['network', 'sends-data', 'writes-files'],
        'copy',
      ),
    ],
  ],
  ip: [[/^(?:-\S+ )*(?:a|addr|address|r|route|l|link|n|neigh)(?: (?:show|list|ls)\b.*)?$/, LISTS]],
  mount: [[/^(?:-l)?$/, LISTS]],
  ifconfig: [[/^(?:-a)?$/, LISTS]],
  dpkg: [[/^(?:-[lLsS]|--(?:list|listfiles|status|search))\b/, LISTS]],
  rpm: [[/^-q/, LISTS]],
  kill: [[/-(?:9|KILL|SIGKILL)\b/, act('dangerous', 'kills processes', ['process-control'])]],
  curl: [
    [
      /(?:^|\s)(?:-\w*[dFT]|--data\S*|--form\S*|--upload-file|--json|-X\s*(?:POST|PUT|DELETE|PATCH)|--request[= ]\s*(?:POST|PUT|DELETE|PATCH))/,
      act('dangerous', 'sends data to another machine', ['network', 'sends-data']),
    ],
  ],
  wget: [
    [/--(?:post|method|body)/, act('dangerous', 'sends data to another machine', ['network', 'sends-data'])],
  ],
  systemctl: [
    [/(?:^|\s)(?:stop|disable|mask|kill|restart|enable|start|edit|set-|reset|daemon|revert|link)/, SERVICE],
  ],
  service: [[/\s(?:stop|restart|start|reload|force-reload)/, SERVICE]],
  npm: [
    [
      /^(?:-\S+\s(?:(?!(?:i|ci|run|test|exec|install|add|view)\s)[^-\s]\S*\s)?)*(?:publish|pub|publi|unpublish|unpub|deprecate|undeprecate|dist-tags?|owner|author|access|token|login|add-user|adduser|logout|stars?|unstar|team|org|profile|hook)\b/,
      PUBLISH,
    ],
    [
      /^(?:i|install|ci|add|update|up|upgrade|uninstall|remove|rm|un|link|dedupe|rebuild|prune|audit fix|init|create)\b/,
      INSTALL,
    ],
    [/^(?:exec|x)\b/, RUNNER],
    [/^(?:run|run-script|test|t|start|stop|restart|build|tst)\b/, BUILD],
    [/^(?:view|info|show|v|search|outdated|audit|ping|whoami|fund)\b/, NET],
  ],
  pnpm: [
    [/^(?:-\S+\s(?:[^-\s]\S*\s)?)*(?:publish|unpublish|login|logout|dist-tag|owner|deprecate)\b/, PUBLISH],
    [/^(?:dlx|exec)\b/, RUNNER],
    [/^(?:i|install|add|update|up|remove|rm|link)\b/, INSTALL],
  ],
  yarn: [
    [
      /^(?:-\S+\s(?:[^-\s]\S*\s)?)*(?:workspaces? (?:\S+ )*)?(?:npm )?(?:publish|unpublish|login|logout|tag|owner)\b/,
      PUBLISH,
    ],
    [/^(?:dlx|exec)\b/, RUNNER],
    [/^(?:install|add|upgrade|up|remove|link)\b|^$/, INSTALL],
  ],
  bun: [
    [/^(?:publish)/, PUBLISH],
    [/^(?:x)\b/, RUNNER],
    [/^(?:i|install|add|update|remove)\b/, INSTALL],
    [/^(?:run|test|build)\b/, BUILD],
  ],
  pip: [
    [/^(?:uninstall)/, act('dangerous', 'removes packages', ['package-scripts', 'deletes-files'])],
    [/^(?:install|download|wheel)/, INSTALL],
  ],
  pip3: [
    [/^(?:uninstall)/, act('dangerous', 'removes packages', ['package-scripts', 'deletes-files'])],
    [/^(?:install|download|wheel)/, INSTALL],
  ],
  uv: [
    [/^(?:publish)/, PUBLISH],
    [/^(?:run|tool run)/, BUILD],
    [/^(?:pip install|add|sync|lock|remove)/, INSTALL],
  ],
  poetry: [
    [/^(?:publish)/, PUBLISH],
    [/^(?:run)/, BUILD],
    [/^(?:install|add|update|remove|lock)/, INSTALL],
  ],
  cargo: [
    [/^(?:[+-]\S+\s)*(?:publish|yank|owner|login|logout|release)\b/, PUBLISH],
    [/^(?:\+\S+ )?(?:build|b|run|r|test|t|bench|check|c|clippy|doc|fmt|fix|tree|metadata|nextest)\b/, BUILD],
    [/^(?:install|add|remove|update|fetch|vendor)\b/, INSTALL],
  ],
  go: [
    [/^(?:build|run|test|vet|generate|fmt|list|doc|fix|tool)\b/, BUILD],
    [/^(?:get|install|mod)\b/, INSTALL],
  ],
  gem: [
    [/^(?:-\S+\s)*(?:push|yank|owner|signin)\b/, PUBLISH],
    [/^(?:install|update|uninstall)/, INSTALL],
  ],
  apt: [
    [/^(?:list|show|policy)\b/, LISTS],
    [
      /^(?:-\S+ )*(?:remove|purge|autoremove|dist-upgrade|full-upgrade)/,
      act('dangerous', 'removes packages of the machine', ['system-change']),
    ],
  ],
  mvn: [[/(?:^|\s)(?:\S+:)?(?:deploy|release:perform|site-deploy|deploy-file)(?:\s|$)/, PUBLISH]],
  gradle: [[/(?:^|\s)\S*[pP]ublish\S*|(?:^|\s)\S*upload\S*/, PUBLISH]],
  gradlew: [[/(?:^|\s)\S*[pP]ublish\S*|(?:^|\s)\S*upload\S*/, PUBLISH]],
  twine: [[/^(?:\S+ )*?(?:upload|register)\b/, PUBLISH]],
  vsce: [[/^(?:publish|unpublish|login)\b/, PUBLISH]],
  lerna: [[/^(?:publish)\b/, PUBLISH]],
  dotnet: [[/^nuget (?:push|delete)\b/, PUBLISH]],
  flit: [[/^(?:publish)\b/, PUBLISH]],
  hatch: [[/^(?:publish)\b/, PUBLISH]],
  deno: [[/^publish\b/, PUBLISH]],
  python: [[PYTHON_UPLOAD, PUBLISH]],
  python3: [[PYTHON_UPLOAD, PUBLISH]],
  firebase: [[/^(?:\S+ )*?deploy\b/, PUBLISH]],
  buildah: [[/^(?:\S+ )*?push\b/, PUBLISH_IMAGE]],
  skopeo: [[/^(?:\S+ )*?(?:copy|sync|delete)\b/, PUBLISH_IMAGE]],
  crane: [[/^(?:\S+ )*?(?:push|copy|cp|append|mutate|rebase|tag|delete)\b/, PUBLISH_IMAGE]],
  podman: [[/^(?:\S+ )*?push\b/, PUBLISH_IMAGE]],
  docker: [
    [
      /^(?:-\S+ (?:[^-\s]\S* )?)*?(?:image |manifest |buildx |compose (?:\S+ )*?)?push\b|(?:^|\s)(?:build|buildx build)\b.*\s--push\b/,
      PUBLISH_IMAGE,
    ],
    [
      /^(?:\S+ )?(?:rm|rmi|prune|kill|stop|down|push|login|swarm|exec)\b|^(?:system|volume|network|image|container) (?:rm|prune)/,
      CONTAINER_CHANGE,
    ],
    [
      /^(?:run|create|build|buildx|pull|compose|start|restart)\b/,
      act('unknown', 'runs or fetches containers', ['containers', 'runs-code', 'network']),
    ],
  ],
  kubectl: [
    [
      /^(?:\S+ )*?(?:delete|apply|create|replace|patch|edit|scale|rollout|drain|cordon|taint|exec|cp|run|set|label|annotate)\b/,
      CLUSTER,
    ],
  ],
  helm: [
    [/^push\b/, PUBLISH],
    [/^(?:install|upgrade|uninstall|delete|rollback)\b/, CLUSTER],
  ],
  terraform: [[/^(?:\S+ )*?(?:apply|destroy|import|taint|state (?:rm|mv|push)|force-unlock)\b/, CLUSTER]],
  aws: [[/\b(?:rm|rb|delete|terminate|put|create|update|cp|mv|sync|run|stop|start)/, CLUSTER]],
  gh: [
    [
      /^(?:pr|issue|release|repo|gist|secret|workflow|run|label|api|auth|ssh-key|variable)\s+(?:create|merge|close|delete|edit|comment|review|upload|fork|set|run|reopen|transfer|token|add|rename|archive)|^api\b.*(?:-X|--method|-f|-F|--field|--input)/,
      act('dangerous', 'changes something that other people see', ['publishes', 'network', 'sends-data']),
    ],
  ],
  glab: [
    [
      /^(?:mr|issue|release|repo|snippet|variable|ci|pipeline|label|ssh-key|token|deploy-key)\s+(?:create|new|for|merge|accept|close|delete|update|note|approve|revoke|upload|fork|set|run|reopen|transfer|add|archive|trigger|retry)\b|^api\b.*(?:-X|--method|-f|-F|--field|--raw-field|--input)/,
      act('dangerous', 'changes something that other people see', ['publishes', 'network', 'sends-data']),
    ],
  ],
  psql: [
    [
      /\b(?:drop|delete|truncate|update|insert|alter|grant|create)\b/i,
      act('dangerous', 'changes a database', ['database']),
    ],
  ],
  mysql: [
    [
      /\b(?:drop|delete|truncate|update|insert|alter|grant|create)\b/i,
      act('dangerous', 'changes a database', ['database']),
    ],
  ],
  sqlite3: [
    [
      /\b(?:drop|delete|truncate|update|insert|alter|create|attach)\b|\.(?:shell|system|import|save|backup|output|once|open)\b/i,
      act('dangerous', 'changes a database', ['database', 'writes-files']),
    ],
  ],
  'redis-cli': [
    [
      /\b(?:flush|del|set|shutdown|config|eval|rename)/i,
      act('dangerous', 'changes a database', ['database']),
    ],
  ],
  unset: [
    [
      /\b(?:PATH|HOME|HISTFILE|LD_\w+)\b/,
      act('dangerous', 'removes an important variable', ['changes-environment']),
    ],
  ],
  export: [[/=/, act('caution', 'sets variables for later commands', ['changes-environment'])]],
  crontab: [[/^-l\b/, act('caution', 'lists planned commands', ['reads-files'])]],
  find: [],
}

const REFINED_MAP: ReadonlyMap<string, readonly (readonly [RegExp, Action])[]> = new Map(
  Object.entries(REFINED),
)

const GIT: readonly (readonly [RegExp, Action])[] = [
  [
    /^push\b/,
    act('dangerous', 'sends commits to another machine', [
      'publishes',
      'network',
      'sends-data',
      'git-changes',
    ]),
  ],
  [
    /^(?:send-pack|request-pull|send-email|svn dcommit|lfs push|subtree push|p4 submit)\b/,
    act('dangerous', 'sends commits to another machine', ['publishes', 'network', 'sends-data']),
  ],
  [
    /^reset\b.*--(?:hard|merge|keep)|^clean\b|^checkout\b.*(?:\s--(?:\s|$)|\s\.(?:\s|$)|-f\b|--force|--ours|--theirs)|^restore\b|^switch\b.*(?:-f\b|--force|--discard)|^rm\b|^branch\b.*(?:-D\b|--delete|-d\b|-M\b)|^tag\b.*(?:-d\b|--delete|-f\b)|^stash (?:drop|clear)|^worktree remove|^update-ref|^gc\b.*prune|^prune|^reflog (?:expire|delete)|^filter-(?:branch|repo)|^commit\b.*--amend|^rebase\b|^replace\b/,
    act('dangerous', 'throws away or rewrites work', ['git-history', 'git-changes', 'writes-files']),
  ],
  [
    /^(?:clone|fetch|pull|ls-remote|remote (?:update|show|prune)|submodule (?:update|add|sync)|lfs)\b/,
    act('caution', 'contacts another repository', ['network', 'git-changes', 'writes-files']),
  ],
  [
    /^(?:submodule|bisect|rebase)\b.*(?:foreach|run|--exec|-x)\b/,
    act('unknown', 'runs commands', ['runs-code', 'git-changes']),
  ],
  [
    /^(?:add|commit|stash|merge|cherry-pick|revert|checkout|switch|branch|tag|reset|mv|init|am|apply|notes|worktree|submodule|bisect|remote|gc|pack-refs|update-index|read-tree|write-tree|commit-tree|hash-object|mktag|mktree|rerere|sparse-checkout|symbolic-ref|format-patch|archive|bundle|maintenance|fast-import|fast-export|merge-file|checkout-index|fsck|repack|config|var|difftool|mergetool|bugreport|diagnose)\b/,
    act('caution', 'changes the repository or its files', ['git-changes', 'writes-files']),
  ],
  [
    /^(?:log|show|diff|status|grep|blame|ls-files|ls-tree|cat-file|shortlog|reflog|rev-list|describe|diff-tree|diff-index|whatchanged|for-each-ref)\b/,
    act('caution', 'reads the repository with options that can write or run something', [
      'reads-files',
      'writes-files',
      'runs-code',
    ]),
  ],
]

/** The action for a known program with these arguments; null when the program is not known. */
export function findAction(program: string, joined: string): Action | null {
  // The build wrapper of a project publishes as the program that it stands for, but is a file of the project.
  const name = program.replace(/^\.\/(gradle|mvn)w$/, '$1')
  const refined = REFINED_MAP.get(name)?.find(([pattern]) => pattern.test(joined))
  return refined?.[1] ?? ACTIONS.get(program) ?? null
}

export function findGitAction(joined: string): Action | null {
  return GIT.find(([pattern]) => pattern.test(joined))?.[1] ?? null
}
