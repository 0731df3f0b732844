// What programs do when their arguments say more than their name: `npm publish` is not `npm test`.
import {
  type Action,
  act,
  BUILD,
  CLUSTER,
  CONTAINER_CHANGE,
  INSTALL,
  LISTS,
  NET,
  PUBLISH,
  PUBLISH_IMAGE,
  RUNNER,
} from './action.ts'

const PYTHON_UPLOAD =
  /(?:^|\s)-m (?:twine (?:\S+ )*?(?:upload|register)|(?:flit|hatch|poetry) publish)\b|\bsetup\.py (?:\S+ )*?(?:upload|register)\b/

const BY_ARGUMENTS: Readonly<Record<string, readonly (readonly [RegExp, Action])[]>> = {
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
  crontab: [[/^-l\b/, LISTS]],
  curl: [
    [
      /(?:^|\s)(?:-\w*[dFT]|--data\S*|--form\S*|--upload-file|--json|-X\s*(?:POST|PUT|DELETE|PATCH)|--request[= ]\s*(?:POST|PUT|DELETE|PATCH))/,
      act('dangerous', 'sends data to another machine', ['network', 'sends-data']),
    ],
  ],
  wget: [
    [/--(?:post|method|body)/, act('dangerous', 'sends data to another machine', ['network', 'sends-data'])],
  ],
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
}

const PATTERNS: ReadonlyMap<string, readonly (readonly [RegExp, Action])[]> = new Map([
  ...Object.entries(BY_ARGUMENTS),
  ['pip3', BY_ARGUMENTS.pip ?? []],
])

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
    // By the words alone the two cannot be told apart for certain, so that both count as a change.
    /^config\b/,
    act('caution', 'shows or changes settings', ['git-changes', 'writes-files']),
  ],
  [
    /^(?:add|commit|stash|merge|cherry-pick|revert|checkout|switch|branch|tag|reset|mv|init|am|apply|notes|worktree|submodule|bisect|remote|gc|pack-refs|update-index|read-tree|write-tree|commit-tree|hash-object|mktag|mktree|rerere|sparse-checkout|symbolic-ref|format-patch|archive|bundle|maintenance|fast-import|fast-export|merge-file|checkout-index|fsck|repack|var|difftool|mergetool|bugreport|diagnose)\b/,
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

/** Undefined when the arguments say no more than the program's name. */
export function actionByArguments(program: string, joined: string): Action | undefined {
  return PATTERNS.get(program)?.find(([pattern]) => pattern.test(joined))?.[1]
}

export function findGitAction(joined: string): Action | null {
  return GIT.find(([pattern]) => pattern.test(joined))?.[1] ?? null
}
