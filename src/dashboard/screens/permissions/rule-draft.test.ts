import { expect, test } from 'vitest'
import { EMPTY_RULE, proposeRule, toDraft, toToml } from './rule-draft.ts'

test('a rule of the form is written with its alternatives, exception and examples', () => {
  const toml = toToml({
    ...EMPTY_RULE,
    ...{ id: 'net-2', command: ['npm|pnpm', 'publish', '**'], except: ['npm', 'publish', '--dry-run'] },
    ...{ reason: 'Publishing needs a person', match: ['npm publish --tag next'] },
    notMatch: ['npm run publish-docs'],
  })
  expect(toml).toBe(`[[permissions.rules]]
id = "net-2"
decision = "ask"
tool = "run_command"
command = [["npm", "pnpm"], "publish", "**"]
except = { command = ["npm", "publish", "--dry-run"] }
reason = "Publishing needs a person"
match = ["npm publish --tag next"]
not_match = ["npm run publish-docs"]
`)
})

test('what the form has no field for comes back as it was', () => {
  const rule = {
    id: 'x',
    decision: 'deny',
    text: '',
    source: '',
    line: 1,
    layer: null,
    reason: null,
  } as const
  const definition = { ...{ decision: 'deny', host: ['a.test'], method: ['POST'] }, modes: ['auto'] }
  const draft = toDraft({ ...rule, definition: { ...definition, except: { agents: ['reader'] } } })
  expect(toToml(draft)).toBe(`[[permissions.rules]]
id = "x"
decision = "deny"
host = "a.test"
except = { agents = ["reader"] }
method = ["POST"]
modes = ["auto"]
`)
})

test('a rule for what was always approved has no wildcard, and no words of what a shell would read otherwise', () => {
  expect(proposeRule('run_command', '{"command":"git status"}')).toMatchObject({
    ...{ id: 'always-run_command-git-status', decision: 'allow', tool: ['run_command'] },
    ...{ command: ['git', 'status'], match: ['git status'] },
  })
  expect(proposeRule('write_file', '{"path":"notes/a.md"}')).toMatchObject({ path: ['notes/a.md'] })
  // A name without a slash is one at any depth, outside of the workspace too.
  expect(proposeRule('write_file', '{"path":"a.md"}')).toMatchObject({ path: ['./a.md'], match: ['a.md'] })
})

test.each([
  ['run_command', '{"command":"python3 * && x"}'],
  ['run_command', '{"command":"echo \\"a\\"","path":"a"}'],
  ['run_command', '{"command":" "}'],
  ['write_file', '{"path":"src/*"}'],
  ['write_file', '{"path":"~/a"}'],
  ['web_fetch', '{"command":null,"path":null}'],
  ['run_command', 'nonsense'],
])('no rule is proposed for %s %s: it would allow more than was approved', (tool, input) => {
  expect(proposeRule(tool, input)).toBeUndefined()
})
