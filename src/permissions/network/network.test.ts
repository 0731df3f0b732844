import { describe, expect, test } from 'vitest'
import { analyzeUrl, classifyAddress } from './network.ts'

describe('addresses', () => {
  test.each([
    ['http://127.0.0.1/', 'loopback'],
    ['http://127.1/', 'loopback'],
    ['http://2130706433/', 'loopback'],
    ['http://0x7f.0.0.1/', 'loopback'],
    ['http://0177.0.0.1/', 'loopback'],
    ['http://[::1]/', 'loopback'],
    ['http://[::ffff:127.0.0.1]/', 'loopback'],
    ['http://[::ffff:7f00:1]/', 'loopback'],
    ['http://[64:ff9b::7f00:1]/', 'loopback'],
    ['http://[2002:7f00:1::]/', 'loopback'],
    ['http://localhost./', 'loopback'],
    ['http://LOCALHOST:3000/', 'loopback'],
    ['http://foo.localhost/', 'loopback'],
    ['http://169.254.169.254/latest', 'metadata'],
    ['http://[::ffff:169.254.169.254]/', 'metadata'],
    ['http://metadata.google.internal/', 'metadata'],
    ['http://168.63.129.16/?comp=versions', 'metadata'],
    ['http://[::ffff:168.63.129.16]/', 'metadata'],
    ['http://0xa83f8110/', 'metadata'],
    ['http://192.0.0.192/', 'metadata'],
    ['http://161.26.0.10/', 'metadata'],
    ['http://metadata.tencentyun.com/', 'metadata'],
    ['http://[fe80::1]/', 'link-local'],
    ['http://10.0.0.8/', 'private'],
    ['http://192.168.1.1/', 'private'],
    ['http://[fd12::1]/', 'private'],
    ['http://router/', 'private'],
    ['http://printer.local/', 'private'],
    ['http://kubernetes.default.svc/', 'private'],
    ['http://KUBERNETES.default.SVC./', 'private'],
    ['http://kubernetes.default/', 'private'],
    ['http://db.shop.svc.cluster.local:5432/', 'private'],
    ['http://db.shop.svc.k8s.example.com/', 'private'],
    ['http://vault.service.consul/', 'private'],
    ['http://wiki.corp/', 'private'],
    ['http://host.docker.internal/', 'private'],
    ['http://redis:6379/', 'private'],
    ['https://svc.example.com/', 'public'],
    ['https://internal.example.com/', 'public'],
    ['http://0.0.0.0/', 'reserved'],
    ['http://[::]/', 'reserved'],
    ['http://[2001:db8::1]/', 'reserved'],
    ['http://[4000::1]/', 'reserved'],
    ['https://example.com/', 'public'],
    ['https://93.184.215.14/', 'public'],
    ['https://[2606:4700::1111]/', 'public'],
  ])('%s is %s', (url, expected) => {
    expect(analyzeUrl(url)?.addressClass).toBe(expected)
  })

  test('only public addresses without a login are not refused', () => {
    expect(analyzeUrl('https://example.com/a')?.refusal).toBeUndefined()
    expect(analyzeUrl('https://user:pw@example.com/')?.refusal).toContain('user name')
    expect(analyzeUrl('http://10.1.2.3/')?.refusal).toContain('private')
    expect(analyzeUrl('not a url')).toBeUndefined()
  })

  test('what is not an address at all is never public', () => {
    expect(classifyAddress('example.com')).toBe('reserved')
  })
})
