import { describe, expect, it } from 'vitest'
import { ja } from './catalogue/ja.ts'
import { ko } from './catalogue/ko.ts'
import { type ReflectionInput, reflect, reflectionText } from './reflection.ts'

const NOTHING: ReflectionInput = { task: '', lastResult: '', history: [], tools: [], threshold: 3 }

function textOf(texts: typeof ja, input: Partial<ReflectionInput>): string {
  const all = { ...NOTHING, ...input }
  return reflectionText(all.task, reflect(all, texts), texts)
}

// The layouts are given to the character.
describe('tool_reflection', () => {
  it('recommends a tool in Japanese, with a call that makes it', () => {
    const input = {
      task: '複数のCSVファイルをJSONに変換する',
      lastResult: '変換完了: data1.csv -> data1.json',
      failedAttempts: 0,
    }
    expect(textOf(ja, input)).toBe(`# ツール生成反省

## タスク分析
- 説明: 複数のCSVファイルをJSONに変換する...
- 失敗回数: 0

## 推奨: ツール生成
- 理由: データ変換操作が検出されました

## 次のステップ
以下のコマンドでツールを生成してください:
create_tool({
  name: 'auto_conversion_8de8f7',
  description: '複数のCSVファイルをJSONに変換する',
  code: \`/** Converts lines of comma-separated values to objects; the first line names the fields. */
async function execute(params) {
  const [head, ...rows] = params.text.trim().split("\\\\n").map(line => line.split(","));
  return rows.map(row => Object.fromEntries(head.map((name, index) => [name.trim(), (row[index] ?? "").trim()])));
}\`,
  parameters: { text: { type: 'string', description: 'text', required: true } }
})`)
  })

  it.each([
    [0, '完了', 'あり'],
    [2, 'まだ', 'なし'],
  ])('recommends going on in Japanese after %i failures', (failedAttempts, lastResult, reusable) => {
    expect(textOf(ja, { task: '片付け', lastResult, failedAttempts })).toBe(`# ツール生成反省

## タスク分析
- 説明: 片付け...
- 失敗回数: ${failedAttempts}

## 推奨: 直接実行を継続
- 理由: ツール生成の条件を満たしていません
- 再利用可能性: ${reusable}`)
  })

  it('does both in Korean', () => {
    expect(textOf(ko, { task: '정리', lastResult: '완료', failedAttempts: 1 })).toBe(`# 도구 생성 회고

## 작업 분석
- 설명: 정리...
- 실패 횟수: 1

## 권장: 직접 실행 계속
- 이유: 도구 생성 조건을 충족하지 않습니다
- 재사용 가능성: 있음`)
    const recommended = textOf(ko, { task: '정리', lastResult: '', failedAttempts: 3 })
    expect(recommended.slice(0, recommended.indexOf('create_tool'))).toBe(`# 도구 생성 회고

## 작업 분석
- 설명: 정리...
- 실패 횟수: 3

## 권장: 도구 생성
- 이유: 실패 횟수가 3회에 도달했습니다

## 다음 단계
다음 명령으로 도구를 만드세요:
`)
  })

  it('keeps its layout whatever the task says and calls were named', () => {
    const call = {
      tool: 'x\n## 推奨: 直接実行を継続',
      input: { command: `${'y'.repeat(5000)} z` },
      ok: false,
    }
    const task = `${'a'.repeat(98)}\n😀\n## 推奨`
    const text = textOf(ja, { task, history: [call, call] })
    expect(text.split('\n').filter(line => line.startsWith('#'))).toEqual([
      '# ツール生成反省',
      '## タスク分析',
      '## 推奨: ツール生成',
      '## 次のステップ',
    ])
    expect(text.isWellFormed()).toBe(true)
    expect(text.length).toBeLessThan(1000)
  })

  it('follows the chart: repetition, failures and kind of task, then a chain or an error, then nothing', () => {
    const outcome = (input: Partial<ReflectionInput>): string => reflect({ ...NOTHING, ...input }, ja).outcome
    const write = { tool: 'write_file', input: { path: 'a.json' }, ok: true }
    const keywords = ['反復', 'フォーマット', 'API呼び出し', 'バリデーション', '統計']
    const made = { name: 'shout', description: '', tags: [], confidenceScore: 1 }
    const tools = [made as unknown as ReflectionInput['tools'][number]]
    expect({
      made: outcome({ history: Array(3).fill({ tool: 'shout', input: {}, ok: true }), tools }),
      run: outcome({ history: Array(3).fill({ tool: 'run_dynamic_tool', input: {}, ok: true }) }),
      twice: outcome({ history: [write, { ...write, input: { path: 'b.json' } }] }),
      reads: outcome({ history: Array(2).fill({ tool: 'read_file', input: { path: 'a.csv' }, ok: true }) }),
      searches: outcome({ history: Array(2).fill({ tool: 'grep_search', input: { path: '.' }, ok: true }) }),
      once: outcome({ history: [write] }),
      failures: [2, 3].map(failedAttempts => outcome({ failedAttempts })),
      keywords: keywords.map(task => outcome({ task })),
      chain: ['a | b | c', 'a | b | c | d', 'a && b && c'].map(lastResult => outcome({ lastResult })),
      error: outcome({ lastResult: 'Error: no such file' }),
    }).toEqual({
      made: 'continue',
      run: 'continue',
      twice: 'create',
      reads: 'create',
      searches: 'create',
      once: 'continue',
      failures: ['continue', 'create'],
      keywords: Array(5).fill('create'),
      chain: ['continue', 'improve', 'improve'],
      error: 'improve',
    })
  })
})
