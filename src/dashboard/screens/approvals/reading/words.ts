import { defineWords } from '../../../i18n/words.ts'

export const words = defineWords({
  en: {
    taken: 'Command by command',
    options: 'options {options}',
    levelSafe: 'only reads',
    levelCaution: 'changes something',
    levelInteractive: 'waits for a person',
    levelUnknown: 'not known what it does',
    levelDangerous: 'hard to undo',
    levelForbidden: 'forbidden',
    large: {
      one: '{added} lines added and {removed} removed in {count} file: too much to show at once.',
      other: '{added} lines added and {removed} removed in {count} files: too much to show at once.',
    },
    open: 'Open the whole change',
    cut: 'The difference was cut. This is the whole input of the call:',
    unseen:
      'These changes are too long to be shown whole, and what nobody has seen cannot be approved. The last line says where the files are. Deny them, and have the command change less at a time.',
  },
  ja: {
    taken: 'コマンドごとの内訳',
    options: 'オプション {options}',
    levelSafe: '読み取りのみ',
    levelCaution: '何かを変更する',
    levelInteractive: '人の入力を待つ',
    levelUnknown: '動作が不明',
    levelDangerous: '元に戻しにくい',
    levelForbidden: '禁止',
    large: '{count} ファイルで {added} 行追加、{removed} 行削除されます。一度に表示するには多すぎます。',
    open: '変更の全体を開く',
    cut: '差分は途中で切られています。呼び出しの入力全体は次のとおりです:',
    unseen:
      'この変更は長すぎて全体を表示できません。誰も見ていない変更を承認することはできません。ファイルの場所は最後の行にあります。拒否して、一度に変更する量を減らしてください。',
  },
  ko: {
    taken: '명령별 내용',
    options: '옵션 {options}',
    levelSafe: '읽기만 함',
    levelCaution: '무언가를 바꿈',
    levelInteractive: '사람을 기다림',
    levelUnknown: '동작을 알 수 없음',
    levelDangerous: '되돌리기 어려움',
    levelForbidden: '금지됨',
    large: '파일 {count}개에서 {added}줄 추가, {removed}줄 삭제: 한 번에 표시하기에는 너무 많습니다.',
    open: '변경 전체 열기',
    cut: '차이가 잘렸습니다. 호출의 입력 전체는 다음과 같습니다:',
    unseen:
      '이 변경은 너무 길어 전부 보여 줄 수 없습니다. 아무도 보지 않은 변경은 승인할 수 없습니다. 파일의 위치는 마지막 줄에 있습니다. 거부한 뒤 명령이 한 번에 더 적게 바꾸도록 하세요.',
  },
})
