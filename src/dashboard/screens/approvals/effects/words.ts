import { defineWords } from '../../../i18n/words.ts'

/** What a command does, by the names of `permissions/effect-names.ts`; rules keep the names. */
export const words = defineWords({
  en: {
    'reads-files': 'reads files',
    'reads-environment': 'reads the environment',
    'writes-files': 'writes files',
    'deletes-files': 'deletes or moves files',
    'delete-recursive': 'deletes whole folders',
    'delete-recursive-outside-project': 'deletes folders outside the workspace',
    'changes-permissions': 'changes file permissions',
    network: 'contacts another machine',
    'sends-data': 'sends data out',
    'remote-shell': 'opens a remote shell',
    'runs-code': 'runs code',
    'package-scripts': 'installs packages or runs their scripts',
    privilege: 'runs as another user',
    'disk-write': 'writes to a disk directly',
    'process-control': 'stops processes',
    'system-change': 'changes the system',
    power: 'shuts down or restarts the machine',
    'git-changes': 'changes the repository',
    'git-history': 'rewrites git history',
    publishes: 'publishes',
    'changes-environment': 'changes the environment of later commands',
    background: 'leaves a process running',
    interactive: 'waits for input',
    containers: 'controls containers',
    database: 'uses a database',
  },
  ja: {
    'reads-files': 'ファイルを読む',
    'reads-environment': '環境変数を読む',
    'writes-files': 'ファイルを書く',
    'deletes-files': 'ファイルを削除または移動する',
    'delete-recursive': 'フォルダーごと削除する',
    'delete-recursive-outside-project': 'ワークスペース外のフォルダーを削除する',
    'changes-permissions': 'ファイルの権限を変える',
    network: '他のマシンに接続する',
    'sends-data': 'データを外部へ送る',
    'remote-shell': 'リモートシェルを開く',
    'runs-code': 'コードを実行する',
    'package-scripts': 'パッケージをインストールするか、そのスクリプトを実行する',
    privilege: '別のユーザーとして実行する',
    'disk-write': 'ディスクに直接書く',
    'process-control': 'プロセスを止める',
    'system-change': 'システムを変更する',
    power: 'マシンの電源を切るか再起動する',
    'git-changes': 'リポジトリを変更する',
    'git-history': 'Git の履歴を書き換える',
    publishes: '公開する',
    'changes-environment': '以後のコマンドの環境を変える',
    background: 'プロセスを実行したままにする',
    interactive: '人の入力を待つ',
    containers: 'コンテナーを操作する',
    database: 'データベースを使う',
  },
  ko: {
    'reads-files': '파일 읽기',
    'reads-environment': '환경 변수 읽기',
    'writes-files': '파일 쓰기',
    'deletes-files': '파일 삭제 또는 이동',
    'delete-recursive': '폴더 전체 삭제',
    'delete-recursive-outside-project': '작업 공간 밖의 폴더 삭제',
    'changes-permissions': '파일 권한 변경',
    network: '다른 컴퓨터에 연결',
    'sends-data': '데이터를 밖으로 전송',
    'remote-shell': '원격 셸 열기',
    'runs-code': '코드 실행',
    'package-scripts': '패키지 설치 또는 스크립트 실행',
    privilege: '다른 사용자로 실행',
    'disk-write': '디스크에 직접 쓰기',
    'process-control': '프로세스 중지',
    'system-change': '시스템 변경',
    power: '컴퓨터 종료 또는 재시작',
    'git-changes': '저장소 변경',
    'git-history': 'Git 기록 다시 쓰기',
    publishes: '게시',
    'changes-environment': '이후 명령의 환경 변경',
    background: '프로세스를 계속 실행',
    interactive: '사람의 입력을 기다림',
    containers: '컨테이너 제어',
    database: '데이터베이스 사용',
  },
})

type Say = (name: keyof (typeof words)['en']) => string

/** In the language of the page where it is known, else by its name. */
export function sayEffect(say: Say, name: string): string {
  return isEffect(name) ? say(name) : name
}

function isEffect(name: string): name is keyof (typeof words)['en'] {
  return Object.hasOwn(words.en, name)
}
