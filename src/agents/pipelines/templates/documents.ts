import { edges, type PipelineTemplate, says, writeStep } from './template.ts'

// Templates that read something and write a document about it.

const FOLDER = `[input]
folder = { default = ".", description = "The folder to read" }
file = { default = "doc/NAME.md", description = "Where the result is written" }

[[step]]
id = "read"
folder = "{{input.folder}}"
`

export const TODO: PipelineTemplate = {
  pipeline: `name = "NAME"
description = "Find the TODOs of this project and keep them in a file"

[input]
file = { default = "todo.md" }

[[step]]
id = "find"
tool = "grep_search"
args = { pattern = "TODO", output_mode = "content" }

${writeStep('find', '{{input.file}}')}`,
}

export const FOLDER_SUMMARY: PipelineTemplate = {
  pipeline: `name = "NAME"
description = "Summarise a folder, in parts where it is large, and keep the summary"

${FOLDER}
[[step]]
id = "summarise"
panel = "NAME-writer"

${writeStep('summarise', '{{input.file}}')}
${edges('read summarise summarize=true', 'summarise write')}`,
  panels: {
    writer: `description = "Writes a summary of a folder"
system = "You write short, exact summaries of projects."
prompt = "Write a summary of this folder in Markdown: what it is for, its parts, what is unusual.\\n\\n{{input}}"
`,
  },
  rehearsals: {
    writer: says('# Summary\n\nA folder, summarised by a rehearsal.\n'),
    summary: says('A part of the folder.'),
  },
}

export const ER_DIAGRAM: PipelineTemplate = {
  pipeline: `name = "NAME"
description = "Draw the data model of a folder as a Mermaid diagram"

${FOLDER}
[[step]]
id = "draw"
panel = "NAME-modeller"

${writeStep('draw', '{{input.file}}')}`,
  panels: {
    modeller: `description = "Draws entity-relationship diagrams"
system = "You read schemas, migrations and types, and draw what they store."
prompt = "Draw the entities and relations of these files as one Mermaid erDiagram in a Markdown code block.\\n\\n{{input}}"
`,
  },
  rehearsals: {
    modeller: says('# Data model\n\n```mermaid\nerDiagram\n  ORDER ||--o{ LINE : has\n```\n'),
  },
}

export const AUTO_DOCS: PipelineTemplate = {
  pipeline: `name = "NAME"
description = "Write documentation for a folder of code"

${FOLDER}
[[step]]
id = "outline"
panel = "NAME-outliner"

[[step]]
id = "document"
panel = "NAME-writer"

${writeStep('document', '{{input.file}}')}
${edges('read outline', 'read document', 'outline document', 'document write')}`,
  panels: {
    outliner: `description = "Decides what a documentation has to say"
prompt = "Which chapters does a documentation of this code need? Answer with a list.\\n\\n{{input}}"
`,
    writer: `description = "Writes documentation"
system = "You write for people who use the code and have not seen it. Every example must be right."
prompt = "Write the documentation in Markdown, by the outline, from the files.\\n\\n{{input}}"
`,
  },
  rehearsals: {
    outliner: says('- What it is\n- How to use it\n'),
    writer: says('# Documentation\n\n## What it is\n\nA rehearsal.\n\n## How to use it\n\nRun it.\n'),
  },
}

export const CODE_REVIEW: PipelineTemplate = {
  pipeline: `name = "NAME"
description = "Three experts look at a folder side by side; one report says what they found"

${FOLDER}
[[step]]
id = "architecture"
panel = "NAME-architect"

[[step]]
id = "performance"
panel = "NAME-performance"

[[step]]
id = "security"
panel = "NAME-security"

[[step]]
id = "merge"
panel = "NAME-editor"

${writeStep('merge', '{{input.file}}')}
${edges('read architecture', 'read performance', 'read security', 'architecture merge', 'performance merge', 'security merge', 'merge write')}`,
  panels: {
    architect: expert('architecture: parts, directions, what is hard to change'),
    performance: expert('performance: what is done too often, too early or one after another'),
    security: expert('security: what comes in from outside and where it ends up'),
    editor: `description = "Merges reviews into one report"
prompt = "Merge these reviews into one report in Markdown: the gravest first, each with its file, and a Mermaid roadmap at the end.\\n\\n{{input}}"
`,
  },
  rehearsals: {
    architect: says('The folders say what they hold.'),
    performance: says('Nothing is done twice.'),
    security: says('Input is parsed at the edge.'),
    editor: says('# Review\n\n{{task}}\n'),
  },
}

function expert(field: string): string {
  return `description = "Reviews code for ${field.split(':')[0]}"
system = "You review code for ${field}. You name the file and say what to do."
prompt = "Review these files.\\n\\n{{input}}"
`
}

export const MARKET_RESEARCH: PipelineTemplate = {
  pipeline: `name = "NAME"
description = "Search the web for a topic, analyse what is found, keep the analysis"

[input]
topic = { required = true, description = "What to look for" }

[[step]]
id = "topic"
text = "Topic: {{input.topic}}"

[[step]]
id = "search"
tool = "web_search"
args = { query = "{{input.topic}} market" }
rehearsal = "A made-up result for a rehearsal: the market for {{input.topic}} grows. https://example.com/"
on_error = "continue"

[[step]]
id = "analyse"
panel = "NAME-analyst"

${writeStep('analyse', 'doc/market-analysis-{{run.month}}.md')}
${edges('topic search', 'topic analyse', 'search analyse', 'analyse write')}`,
  panels: {
    analyst: `description = "Analyses a market from search results"
system = "You separate what a source says from what you conclude, and name the source."
prompt = "Write a market analysis in Markdown from this material.\\n\\n{{input}}"
`,
  },
  rehearsals: { analyst: says('# Market analysis\n\n{{task}}\n') },
}

export const WEEKLY_REVIEW: PipelineTemplate = {
  pipeline: `name = "NAME"
description = "What happened in the last week, how the project stands, what comes next"

[[step]]
id = "log"
tool = "git_ops"
args = { action = "log", args = { max_count = 50 } }
on_error = "continue"

[[step]]
id = "checks"
tool = "self_eval"
on_error = "continue"

[[step]]
id = "about"
text = "The week {{run.week}}"

[[step]]
id = "review"
panel = "NAME-reviewer"

${writeStep('review', 'doc/weekly-review-{{run.week}}.md')}
${edges('log review', 'checks review', 'about review', 'review write')}`,
  panels: {
    reviewer: `description = "Writes the review of a week"
prompt = "Write the review of this week in Markdown: what was done, how the checks stand, what to do next.\\n\\n{{input}}"
`,
  },
  rehearsals: { reviewer: says('# Review of the week\n\n{{task}}\n') },
}
