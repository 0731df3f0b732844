import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** A little shop whose models are rehearsals: everything can be tried without a key. `npm start` and the browser tests use it. */
export function writeSampleWorkspace(folder: string): void {
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const git = (...args: string[]): void => {
    spawnSync('git', ['-c', 'user.name=Shop', '-c', 'user.email=shop@example.com', ...args], {
      cwd: folder,
      stdio: 'ignore',
    })
  }
  git('init', '--quiet')
  git('add', '--all')
  git('commit', '--quiet', '--message', 'The shop opens')
}

export const SAMPLE_PANELS = ['pricing', 'release', 'research', 'sold', 'way']
export const SAMPLE_PIPELINES = ['weekly-report']

/** What the user's own configuration of the sample says. */
export const SAMPLE_CONFIG = `[defaults]
model = "rehearsal:pricing.toml"

[[permissions.rules]]
id = "shop-reads"
decision = "allow"
tool = "read_file"
path = "**"
reason = "Reading the shop's files is fine"
`

const FILES: Readonly<Record<string, string>> = {
  'README.md': '# Tea shop\n\nPrices are in `prices.json`, reports in `reports/`.\n',
  'prices.json': '{\n  "green tea": 120,\n  "black tea": 90,\n  "cup": 80,\n  "pot": 240\n}\n',
  'sales.csv': 'week,item,sold\n44,green tea,31\n44,black tea,58\n45,green tea,24\n45,black tea,63\n',
  'pricing.toml': `description = "Looks at the prices, then wants to change them"
[[answer]]
text = "I look at the price list and at what was sold."
delay_ms = 400
[[answer.call]]
tool = "read_file"
input = { path = "prices.json" }
[[answer.call]]
tool = "read_file"
input = { path = "sales.csv" }

[[answer]]
text = "Green tea sells less every week. I lower its price and write down why."
delay_ms = 600
[[answer.call]]
tool = "edit_file"
input = { path = "prices.json", old_string = '"green tea": 120', new_string = '"green tea": 95' }

[[answer]]
delay_ms = 300
[[answer.call]]
tool = "write_file"
input = { path = "reports/prices.md", content = "# Prices\\n\\nGreen tea: 120 to 95, because it sold 31, then 24.\\n" }

[[answer]]
text = """
Done. **Green tea** now costs 95 instead of 120.

| item | before | now |
| --- | ---: | ---: |
| green tea | 120 | 95 |
| black tea | 90 | 90 |

The reasons are in \`reports/prices.md\`. You can take both changes back under *Changes*.
"""
`,
  'release.toml': `description = "Wants to publish, which is dangerous"
[[answer]]
text = "The tests are green, so I publish."
delay_ms = 300
[[answer.call]]
tool = "run_command"
input = { command = "git push --force origin main" }

[[answer]]
text = "The answer was: {{last.text}}"
`,
  'research.toml': `description = "An agent that lets two others read"
[[answer]]
text = "I split the work."
delay_ms = 300
[[answer.call]]
tool = "create_sub_agent"
input = { name = "reader", description = "Reads the sales", system_prompt = "You read and summarise." }

[[answer]]
delay_ms = 300
[[answer.call]]
tool = "execute_sub_agent"
input = { agent_id = "{{last.data.agent_id}}", input = "Summarise sales.csv" }

[[answer]]
text = "Black tea grows, green tea shrinks."

[[agents.reader.answer]]
text = "Reading."
delay_ms = 400
[[agents.reader.answer.call]]
tool = "read_file"
input = { path = "sales.csv" }

[[agents.reader.answer]]
text = "Green tea 31, then 24. Black tea 58, then 63."
`,
  '.kogu/panels/pricing.toml': `description = "Keeps the price list"
system = "You keep the price list of a tea shop. Change as little as possible."
prompt = "Look at the sales and adjust the prices. {{input}}"
model = "rehearsal:pricing.toml"
temperature = 0.7
max_tokens = 4096
orchestration = "none"

[limits]
max_turns = 10
max_cost = 0.5

[tools.read_file]
[tools.search_files]
[tools.edit_file]
allowed_dirs = ["."]
[tools.write_file]
allowed_dirs = [".", "reports"]
`,
  '.kogu/panels/release.toml': `description = "Publishes the shop"
prompt = "Publish. {{input}}"
model = "rehearsal:release.toml"

[tools.run_command]
profile = "shell"
git = "ReadWrite"
`,
  '.kogu/panels/research.toml': `description = "Lets sub-agents read the sales"
prompt = "What sells, what does not? {{input}}"
model = "rehearsal:research.toml"
orchestration = "automatic"

[tools.read_file]
`,
  '.kogu/panels/sold.toml': `kind = "chart"
description = "What was sold in two weeks"
text = """
item,week 44,week 45
green tea,31,24
black tea,58,63
"""
`,
  '.kogu/panels/way.toml': `kind = "diagram"
description = "How a price changes"
text = """
flowchart LR
  sales[Sales] --> panel[Pricing panel] --> you{You agree?}
  you -- yes --> prices[New prices]
  you -- no --> sales
"""
`,
  '.kogu/pipelines/weekly-report.toml': `name = "weekly-report"
description = "Reads the sales, lets the panel adjust prices, writes the report"

[input.week]
type = "string"
required = true
description = "Such as 45"

[[step]]
id = "sales"
tool = "read_file"
args = { path = "sales.csv" }
show = "table"

[[step]]
id = "adjust"
panel = "pricing"
prompt = "Week {{input.week}}"

[[step]]
id = "report"
tool = "write_file"
args = { path = "reports/week.md", content = "{{steps.adjust.text}}" }
gate = "approval"
`,
}
