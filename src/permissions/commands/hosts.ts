/** Machines that a command names: URLs anywhere, `host:path` of copy programs and git, hosts of ssh and the like. */
export function hostsOf(program: string, words: string[]): string[] {
  const found = new Set<string>()
  for (const word of words) {
    const url =
      /(?:^|[=@]|^git\+|^-[a-zA-Z])((?:https?|socks\w{0,3}|ftps?|ssh|git|wss?|rsync|sftp|tcp|ldap|s3|gs):\/\/[^\s'"<>]+)/i.exec(
        word,
      )?.[1]
    if (url !== undefined) found.add(url)
  }
  const operands = words.filter(word => !word.startsWith('-'))
  if (/^(?:git|scp|rsync|sftp|rclone)$/.test(program)) {
    for (const word of operands) {
      const remote = /^(?:([\w.-]+)@)?([\w.-]+\.[\w-]+|\[[0-9a-f:]+\]):(?!\/\/)[^\s]*$/i.exec(word)
      if (remote?.[2] !== undefined) found.add(`ssh://${remote[2]}`)
      else if (program !== 'git' && /^[\w.@-]+:[^\s]*$/.test(word))
        found.add(`ssh://${word.split(':')[0]?.replace(/^.*@/, '')}`)
    }
  }
  if (
    /^(?:ssh|mosh|sftp|telnet|ftp|nc|ncat|netcat|ping|ping6|dig|nslookup|host|whois|traceroute)$/.test(
      program,
    )
  ) {
    const host = firstHost(program, words)
    if (host !== null) found.add(`${/^(?:ssh|mosh|sftp)$/.test(program) ? 'ssh' : 'tcp'}://${host}`)
  }
  if (/^(?:curl|wget|http|https|xh)$/.test(program)) {
    for (const bare of bareHosts(program, words)) found.add(`http://${bare}`)
  }
  for (const host of optionHosts(program, words)) found.add(host)
  return [...found]
}

/** `curl -o page.html example.com`: what follows an option that takes a value is a file or text, however it looks. */
function bareHosts(program: string, words: string[]): string[] {
  const takesValue = program === 'wget' ? WGET_VALUE : CURL_VALUE
  return words.filter(
    (word, i) =>
      /^(?:localhost|[\w-]+(?:\.[\w-]+)+|\[[0-9a-f:]+\])(?::\d+)?(?:\/\S*)?$/i.test(word) &&
      !takesValue.test(words[i - 1] ?? ''),
  )
}

const CURL_VALUE =
  /^(?:-[a-zA-Z#]*[AbcCdDeEFhHKmoPQrtTuUwxXyYz]|--(?:output|output-dir|config|data\S*|json|header|user|user-agent|cookie|cookie-jar|referer|form\S*|upload-file|request|cacert|capath|cert\S*|key|max-time|connect-timeout|retry\S*|write-out|dump-header|range|netrc-file|etag-\S+|trace\S*|stderr|aws-sigv4|oauth2-bearer|interface|variable))$/
const WGET_VALUE =
  /^(?:-[a-zA-Z]*[OoaiBtTwQPUAReIXl]|--(?:output-document|output-file|append-output|input-file|directory-prefix|user-agent|post-file|post-data|body-file|body-data|header|load-cookies|save-cookies|ca-certificate|certificate|private-key|user|password|accept|reject|tries|timeout|wait|execute|config|referer|method))$/

const CURL_HOST = /^(?:-[a-zA-Z]*x|--(?:proxy|preproxy|socks\w*|proxy1\.0|doh-url|url))$/

/** Machines that stand in options: proxies and jump hosts. What is missed is refused by the wall. */
function optionHosts(program: string, words: string[]): string[] {
  const hosts: string[] = []
  for (const [i, word] of words.entries()) {
    const equals = word.startsWith('--') ? word.indexOf('=') : -1
    const option = equals === -1 ? word : word.slice(0, equals)
    const next = equals === -1 ? (words[i + 1] ?? '') : word.slice(equals + 1)
    if (program === 'curl' && CURL_HOST.test(option) && next !== '') hosts.push(asUrl('http', next))
    if (/^(?:ssh|scp|sftp)$/.test(program)) {
      const jumps =
        option === '-J'
          ? next
          : (/^-J(.+)$/.exec(word)?.[1] ?? /^(?:-o)?\s*ProxyJump[= ](.+)$/i.exec(word)?.[1])
      for (const jump of jumps?.split(',') ?? []) hosts.push(asUrl('ssh', jump.replace(/^.*@/, '')))
    }
  }
  return hosts
}

function asUrl(scheme: string, host: string): string {
  return /^[a-z][\w+.-]*:\/\//i.test(host) ? host : `${scheme}://${host}`
}

function firstHost(program: string, words: string[]): string | null {
  const values = program === 'ssh' || program === 'mosh' ? /^-[bcDEeFIiJLlmOopQRSWw]$/ : /^-[cistpwWqI]$/
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? ''
    if (values.test(word)) i += 1
    else if (!word.startsWith('-') && !word.startsWith('+')) return word.replace(/^.*@/, '') || null
  }
  return null
}
