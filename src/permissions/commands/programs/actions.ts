// What each program does, in one table: by its name, and by its arguments where these say more (`npm publish`, `npm test`).
import type { EffectName } from '../../effect-names.ts'
import type { Level } from '../types.ts'

/** What operands are touched: `copy`/`move` read all but the last and write the last; `archive` may do either with each. */
type Targets = 'none' | 'read' | 'write' | 'delete' | 'copy' | 'move' | 'skip-first-write' | 'archive'

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
const ACCOUNT = act('dangerous', 'changes accounts of the machine', ['system-change', 'privilege'])
const PUBLISH = act('dangerous', 'publishes a package', ['publishes', 'network', 'sends-data'])
const PUBLISH_IMAGE = act('dangerous', 'publishes an image', [
  'publishes',
  'containers',
  'network',
  'sends-data',
])
const CONTAINER = act('caution', 'talks to the container service', ['containers'])
const CONTAINER_CHANGE = act('dangerous', 'changes or deletes containers, images or volumes', ['containers'])
const CLUSTER = act('dangerous', 'changes a cluster or cloud account', [
  'containers',
  'network',
  'sends-data',
])
const SECRETS = act('caution', 'prints variables, which may hold secrets', ['reads-environment'])
const LISTS = act('unknown', 'shows information about the machine', ['reads-files'])
const SHELL_STATE = act('unknown', 'changes the shell itself', ['changes-environment'])
const SENDS = act('dangerous', 'sends data to another machine', ['network', 'sends-data'])
const SHOWN_TO_OTHERS = act('dangerous', 'changes something that other people see', [
  'publishes',
  'network',
  'sends-data',
])

const PYTHON_UPLOAD =
  /(?:^|\s)-m (?:twine (?:\S+ )*?(?:upload|register)|(?:flit|hatch|poetry) publish)\b|\bsetup\.py (?:\S+ )*?(?:upload|register)\b/

/** The first row counts that names the program and whose expression, if it has one, matches the arguments. */
const TABLE: readonly (readonly [names: string, action: Action, words?: RegExp])[] = [
  [
    'git',
    act('dangerous', 'sends commits to another machine', [
      'publishes',
      'network',
      'sends-data',
      'git-changes',
    ]),
    /^push\b/,
  ],
  [
    'git',
    act('dangerous', 'sends commits to another machine', ['publishes', 'network', 'sends-data']),
    /^(?:send-pack|request-pull|send-email|svn dcommit|lfs push|subtree push|p4 submit)\b/,
  ],
  [
    'git',
    act('dangerous', 'throws away or rewrites work', ['git-history', 'git-changes', 'writes-files']),
    /^reset\b.*--(?:hard|merge|keep)|^clean\b|^checkout\b.*(?:\s--(?:\s|$)|\s\.(?:\s|$)|-f\b|--force|--ours|--theirs)|^restore\b|^switch\b.*(?:-f\b|--force|--discard)|^rm\b|^branch\b.*(?:-D\b|--delete|-d\b|-M\b)|^tag\b.*(?:-d\b|--delete|-f\b)|^stash (?:drop|clear)|^worktree remove|^update-ref|^gc\b.*prune|^prune|^reflog (?:expire|delete)|^filter-(?:branch|repo)|^commit\b.*--amend|^rebase\b|^replace\b/,
  ],
  [
    'git',
    act('caution', 'contacts another repository', ['network', 'git-changes', 'writes-files']),
    /^(?:clone|fetch|pull|ls-remote|remote (?:update|show|prune)|submodule (?:update|add|sync)|lfs)\b/,
  ],
  [
    'git',
    act('unknown', 'runs commands', ['runs-code', 'git-changes']),
    /^(?:submodule|bisect|rebase)\b.*(?:foreach|run|--exec|-x)\b/,
  ],
  // By the words alone the two cannot be told apart for certain, so that both count as a change.
  ['git', act('caution', 'shows or changes settings', ['git-changes', 'writes-files']), /^config\b/],
  [
    'git',
    act('caution', 'changes the repository or its files', ['git-changes', 'writes-files']),
    /^(?:add|commit|stash|merge|cherry-pick|revert|checkout|switch|branch|tag|reset|mv|init|am|apply|notes|worktree|submodule|bisect|remote|gc|pack-refs|update-index|read-tree|write-tree|commit-tree|hash-object|mktag|mktree|rerere|sparse-checkout|symbolic-ref|format-patch|archive|bundle|maintenance|fast-import|fast-export|merge-file|checkout-index|fsck|repack|var|difftool|mergetool|bugreport|diagnose)\b/,
  ],
  [
    'git',
    act('caution', 'reads the repository with options that can write or run something', [
      'reads-files',
      'writes-files',
      'runs-code',
    ]),
    /^(?:log|show|diff|status|grep|blame|ls-files|ls-tree|cat-file|shortlog|reflog|rev-list|describe|diff-tree|diff-index|whatchanged|for-each-ref)\b/,
  ],
  [
    'rsync',
    act(
      'dangerous',
      'copies and deletes files',
      ['writes-files', 'deletes-files', 'delete-recursive'],
      'copy',
    ),
    /(?:^|\s)--del/,
  ],
  [
    'rsync',
    act(
      'dangerous',
      'copies files to or from another machine',
      ['network', 'sends-data', 'writes-files'],
      'copy',
    ),
    /\w:|(?:^|\s)(?:-e|--rsh)/,
  ],
  ['ip', LISTS, /^(?:-\S+ )*(?:a|addr|address|r|route|l|link|n|neigh)(?: (?:show|list|ls)\b.*)?$/],
  ['mount', LISTS, /^(?:-l)?$/],
  ['ifconfig', LISTS, /^(?:-a)?$/],
  ['dpkg', LISTS, /^(?:-[lLsS]|--(?:list|listfiles|status|search))\b/],
  ['rpm', LISTS, /^-q/],
  ['crontab', LISTS, /^-l\b/],
  [
    'curl',
    SENDS,
    /(?:^|\s)(?:-\w*[dFT]|--data\S*|--form\S*|--upload-file|--json|-X\s*(?:POST|PUT|DELETE|PATCH)|--request[= ]\s*(?:POST|PUT|DELETE|PATCH))/,
  ],
  ['wget', SENDS, /--(?:post|method|body)/],
  [
    'npm',
    PUBLISH,
    /^(?:-\S+\s(?:(?!(?:i|ci|run|test|exec|install|add|view)\s)[^-\s]\S*\s)?)*(?:publish|pub|publi|unpublish|unpub|deprecate|undeprecate|dist-tags?|owner|author|access|token|login|add-user|adduser|logout|stars?|unstar|team|org|profile|hook)\b/,
  ],
  [
    'npm',
    INSTALL,
    /^(?:i|install|ci|add|update|up|upgrade|uninstall|remove|rm|un|link|dedupe|rebuild|prune|audit fix|init|create)\b/,
  ],
  ['npm', RUNNER, /^(?:exec|x)\b/],
  ['npm', BUILD, /^(?:run|run-script|test|t|start|stop|restart|build|tst)\b/],
  ['npm', NET, /^(?:view|info|show|v|search|outdated|audit|ping|whoami|fund)\b/],
  [
    'pnpm',
    PUBLISH,
    /^(?:-\S+\s(?:[^-\s]\S*\s)?)*(?:publish|unpublish|login|logout|dist-tag|owner|deprecate)\b/,
  ],
  ['pnpm', RUNNER, /^(?:dlx|exec)\b/],
  ['pnpm', INSTALL, /^(?:i|install|add|update|up|remove|rm|link)\b/],
  [
    'yarn',
    PUBLISH,
    /^(?:-\S+\s(?:[^-\s]\S*\s)?)*(?:workspaces? (?:\S+ )*)?(?:npm )?(?:publish|unpublish|login|logout|tag|owner)\b/,
  ],
  ['yarn', RUNNER, /^(?:dlx|exec)\b/],
  ['yarn', INSTALL, /^(?:install|add|upgrade|up|remove|link)\b|^$/],
  ['bun uv poetry', PUBLISH, /^publish/],
  ['bun', RUNNER, /^x\b/],
  ['bun', INSTALL, /^(?:i|install|add|update|remove)\b/],
  ['bun', BUILD, /^(?:run|test|build)\b/],
  ['pip pip3', act('dangerous', 'removes packages', ['package-scripts', 'deletes-files']), /^uninstall/],
  ['pip pip3', INSTALL, /^(?:install|download|wheel)/],
  ['uv', BUILD, /^(?:run|tool run)/],
  ['uv', INSTALL, /^(?:pip install|add|sync|lock|remove)/],
  ['poetry', BUILD, /^run/],
  ['poetry', INSTALL, /^(?:install|add|update|remove|lock)/],
  ['cargo', PUBLISH, /^(?:[+-]\S+\s)*(?:publish|yank|owner|login|logout|release)\b/],
  [
    'cargo',
    BUILD,
    /^(?:\+\S+ )?(?:build|b|run|r|test|t|bench|check|c|clippy|doc|fmt|fix|tree|metadata|nextest)\b/,
  ],
  ['cargo', INSTALL, /^(?:install|add|remove|update|fetch|vendor)\b/],
  ['go', BUILD, /^(?:build|run|test|vet|generate|fmt|list|doc|fix|tool)\b/],
  ['go', INSTALL, /^(?:get|install|mod)\b/],
  ['gem', PUBLISH, /^(?:-\S+\s)*(?:push|yank|owner|signin)\b/],
  ['gem', INSTALL, /^(?:install|update|uninstall)/],
  ['apt', LISTS, /^(?:list|show|policy)\b/],
  [
    'apt',
    act('dangerous', 'removes packages of the machine', ['system-change']),
    /^(?:-\S+ )*(?:remove|purge|autoremove|dist-upgrade|full-upgrade)/,
  ],
  ['mvn', PUBLISH, /(?:^|\s)(?:\S+:)?(?:deploy|release:perform|site-deploy|deploy-file)(?:\s|$)/],
  ['gradle', PUBLISH, /(?:^|\s)\S*[pP]ublish\S*|(?:^|\s)\S*upload\S*/],
  ['twine', PUBLISH, /^(?:\S+ )*?(?:upload|register)\b/],
  ['vsce', PUBLISH, /^(?:publish|unpublish|login)\b/],
  ['dotnet', PUBLISH, /^nuget (?:push|delete)\b/],
  ['flit hatch lerna deno', PUBLISH, /^publish\b/],
  ['python python3', PUBLISH, PYTHON_UPLOAD],
  ['firebase', PUBLISH, /^(?:\S+ )*?deploy\b/],
  ['buildah podman', PUBLISH_IMAGE, /^(?:\S+ )*?push\b/],
  ['skopeo', PUBLISH_IMAGE, /^(?:\S+ )*?(?:copy|sync|delete)\b/],
  ['crane', PUBLISH_IMAGE, /^(?:\S+ )*?(?:push|copy|cp|append|mutate|rebase|tag|delete)\b/],
  [
    'docker',
    PUBLISH_IMAGE,
    /^(?:-\S+ (?:[^-\s]\S* )?)*?(?:image |manifest |buildx |compose (?:\S+ )*?)?push\b|(?:^|\s)(?:build|buildx build)\b.*\s--push\b/,
  ],
  [
    'docker',
    CONTAINER_CHANGE,
    /^(?:\S+ )?(?:rm|rmi|prune|kill|stop|down|push|login|swarm|exec)\b|^(?:system|volume|network|image|container) (?:rm|prune)/,
  ],
  [
    'docker',
    act('unknown', 'runs or fetches containers', ['containers', 'runs-code', 'network']),
    /^(?:run|create|build|buildx|pull|compose|start|restart)\b/,
  ],
  [
    'kubectl',
    CLUSTER,
    /^(?:\S+ )*?(?:delete|apply|create|replace|patch|edit|scale|rollout|drain|cordon|taint|exec|cp|run|set|label|annotate)\b/,
  ],
  ['helm', PUBLISH, /^push\b/],
  ['helm', CLUSTER, /^(?:install|upgrade|uninstall|delete|rollback)\b/],
  ['terraform', CLUSTER, /^(?:\S+ )*?(?:apply|destroy|import|taint|state (?:rm|mv|push)|force-unlock)\b/],
  ['aws', CLUSTER, /\b(?:rm|rb|delete|terminate|put|create|update|cp|mv|sync|run|stop|start)/],
  [
    'gh',
    SHOWN_TO_OTHERS,
    /^(?:pr|issue|release|repo|gist|secret|workflow|run|label|api|auth|ssh-key|variable)\s+(?:create|merge|close|delete|edit|comment|review|upload|fork|set|run|reopen|transfer|token|add|rename|archive)|^api\b.*(?:-X|--method|-f|-F|--field|--input)/,
  ],
  [
    'glab',
    SHOWN_TO_OTHERS,
    /^(?:mr|issue|release|repo|snippet|variable|ci|pipeline|label|ssh-key|token|deploy-key)\s+(?:create|new|for|merge|accept|close|delete|update|note|approve|revoke|upload|fork|set|run|reopen|transfer|add|archive|trigger|retry)\b|^api\b.*(?:-X|--method|-f|-F|--field|--raw-field|--input)/,
  ],
  [
    'touch mkdir mkfifo mktemp install tee truncate split csplit dos2unix unix2dos',
    act('caution', 'creates or changes files', ['writes-files'], 'write'),
  ],
  ['cp ditto rsync', act('caution', 'copies files', ['reads-files', 'writes-files'], 'copy')],
  ['ln link', act('caution', 'makes links', ['writes-files'], 'copy')],
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
    'exit return break continue shift wait jobs fg bg times dirs popd pushd suspend logout',
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

const ROWS = Map.groupBy(
  TABLE.flatMap(([names, action, words]) => names.split(' ').map(name => ({ name, action, words }))),
  ({ name }) => name,
)

/** Null when the program is not known with these arguments. */
export function findAction(program: string, joined: string): Action | null {
  // The build wrapper of a project publishes as the program that it stands for, but is a file of the project.
  const name = program.replace(/^\.\/(gradle|mvn)w$/, '$1')
  const row = ROWS.get(name)?.find(({ words }) => words?.test(joined) ?? name === program)
  return row?.action ?? null
}
