import { describe, expect, test } from 'vitest'
import { analyzePath, foldPath, isSystemPath } from './paths.ts'

const context = { home: '/home/kim', workspace: '/home/kim/shop' }

describe('sensitivity', () => {
  test.each([
    ['/home/kim/shop/.env', 8],
    ['/home/kim/shop/.ENV', 8],
    ['/home/kim/shop/.env.local', 8],
    ['/home/kim/shop/.env.', 8],
    ['/home/kim/shop/.e\u200Bnv', 8],
    ['/home/kim/shop/．env', 8],
    ['/home/kim/shop/.env.example', 0],
    ['/home/kim/shop/secrets.yaml', 9],
    ['/home/kim/shop/credentials.json', 9],
    ['/home/kim/shop/credentials', 9],
    ['/home/kim/shop/credentials.py', 9],
    ['/home/kim/shop/credentials.ts.bak', 9],
    ['/home/kim/.aws/credentials.ts', 10],
    ['/home/kim/shop/src/aws/credentials.ts', 0],
    ['/home/kim/shop/src/credentials.test.ts', 0],
    ['/home/kim/shop/docs/credentials.md', 0],
    ['/home/kim/shop/server.pem', 9],
    ['/home/kim/shop/deploy_rsa', 10],
    ['/home/kim/.ssh', 10],
    ['/home/kim/.ssh/config', 10],
    ['/home/kim/.aws/credentials', 10],
    ['/home/kim/.config/gcloud/x.db', 10],
    ['/home/kim/.config/app.toml', 5],
    ['/home/kim/.gitconfig', 4],
    ['/home/kim/shop/.npmrc', 7],
    ['/home/kim/shop/data.sqlite', 6],
    ['/home/kim/.bash_history', 7],
    ['/etc/passwd', 8],
    ['/etc/shadow', 10],
    ['/etc/shadow-', 10],
    ['/etc/sudoers.d/kim', 9],
    ['/etc/hosts', 5],
    ['/etc/nginx/server.pem', 9],
    ['/etc/ssl/certs/ISRG_Root_X1.pem', 0],
    ['/etc/ssl/certs/server.key', 9],
    ['/home/kim/etc/ssl/certs/server.pem', 9],
    ['/proc/self/environ', 8],
    ['/dev/vda', 10],
    ['/dev/disk/by-id/x', 10],
    ['/dev/null', 0],
    ['/home/kim/shop/.github/workflows/ci.yml', 4],
    ['/home/kim/shop/src/environment.ts', 0],
    ['/home/kim/shop/src/key.ts', 0],
    ['/home/kim/shop/README.md', 0],
    ['/home/kim/shop/.env~', 8],
    ['/home/kim/shop/#.env#', 8],
    ['/home/kim/shop/.#.env', 8],
    ['/home/kim/shop/.env.swp', 8],
    ['/home/kim/shop/server.key.bak', 9],
    ['/home/kim/shop/server.key.~2~', 9],
    ['/home/kim/shop/.server.key.swo', 9],
    ['/home/kim/shop/.secrets.yaml.swp', 9],
    ['/home/kim/shop/.npmrc.orig', 7],
    ['/home/kim/shop/keys.ts.bak', 0],
    ['/home/kim/.claude.json.backup', 9],
    ['/home/kim/.local/share/uv/credentials/credentials.toml', 9],
    ['/home/kim/.config/stripe/config.toml', 9],
    ['/home/kim/.config/sops/age/keys.txt', 10],
    ['/home/lee/.cache/huggingface/token', 9],
    ['/home/kim/.config/Signal/config.json', 7],
    ['/home/kim/.config/pip/pip.conf', 5],
    ['/home/kim/shop/.Renviron', 8],
    ['/home/kim/shop/.RData', 7],
    ['/home/kim/shop/.Rhistory', 7],
    ['/home/kim/.bitcoin/wallets/x', 10],
    ['/home/kim/shop/wallet.dat', 10],
    ['/home/kim/.ethereum/keystore/UTC--x', 10],
    ['/run/secrets/db_password', 9],
    ['/var/run/secrets/kubernetes.io/serviceaccount/token', 9],
    ['/etc/wireguard/wg0.conf', 10],
    ['/var/backups/shadow.bak', 9],
    ['/var/backups', 9],
    ['/home/lee/.mozilla/firefox/x/logins.json', 7],
    ['/root/.config/google-chrome/Default/Cookies', 7],
    ['/Users/lee/Library/Keychains/login.keychain-db', 10],
    ['/home/lee/shop/README.md', 0],
    ['/home/kim/shop/.forgejo/workflows/ci.yml', 4],
    ['/home/kim/shop/.github/hooks/x.json', 4],
  ])('of %j is %i', (path, level) => {
    expect(analyzePath(path, context).sensitivity).toBe(level)
  })
})

test('source folders that images keep below /usr are not the system', () => {
  expect(isSystemPath('/usr/src/app/index.ts')).toBe(false)
  expect(isSystemPath('/usr/src')).toBe(true)
  expect(isSystemPath('/usr/lib/x')).toBe(true)
  expect(isSystemPath('/home/usr/x')).toBe(false)
})

test('folding leaves ordinary paths alone but for their case', () => {
  expect(foldPath('/Home/Kim/a.b-c_d')).toBe('/home/kim/a.b-c_d')
  expect(foldPath('/a/b. ')).toBe('/a/b')
  expect(foldPath('/a/..x')).toBe('/a/..x')
})

test('every character folds to the same text in each of its cases and forms', () => {
  const fold = (text: string): string => foldPath(`/-${text}-`)
  const differing: string[] = []
  for (let code = 0x80; code < 0x20000; code += 1) {
    const one = String.fromCodePoint(code)
    const all = [one.toLowerCase(), one.toUpperCase(), one.normalize('NFD'), one.normalize('NFKC')]
    if (all.some(each => each !== one && fold(each) !== fold(one))) differing.push(code.toString(16))
  }
  // `＼` is a backslash in NFKC, which separates folders on Windows; `＼` itself does not.
  expect(differing).toEqual(['fe68', 'ff3c'])
})
