package sshd

import (
	"golang.org/x/crypto/ssh"
	"golang.org/x/sys/cpu"
)

// maxAuthTries is both the number of keys that may be offered and refused for free and the number of failures after
// that (see ssh.ServerConfig.MaxAuthTries): a person with two dozen keys in their agent gets to the right one. A bad
// signature ends the connection at once, whatever this says.
const maxAuthTries = 12

// cryptography is the server's choice of algorithms.
func cryptography(aes bool) ssh.Config {
	return ssh.Config{
		KeyExchanges: []string{
			ssh.KeyExchangeMLKEM768X25519,
			ssh.KeyExchangeCurve25519,
			ssh.KeyExchangeECDHP256, ssh.KeyExchangeECDHP384, ssh.KeyExchangeECDHP521,
			ssh.KeyExchangeDH16SHA512, ssh.KeyExchangeDH14SHA256,
		},
		Ciphers: ciphers(aes),
		MACs:    []string{ssh.HMACSHA256ETM, ssh.HMACSHA512ETM, ssh.HMACSHA256, ssh.HMACSHA512},
	}
}

// ciphers depends on whether the processor has instructions for AES. The client's order of preference wins, and
// OpenSSH's client prefers chacha20, which costs more than twice as much here as AES in hardware does: with the
// hardware it is not offered at all. Without it AES is the slow one, and in software open to timing.
func ciphers(aes bool) []string {
	if aes {
		return []string{
			ssh.CipherAES128GCM, ssh.CipherAES256GCM,
			ssh.CipherAES128CTR, ssh.CipherAES192CTR, ssh.CipherAES256CTR,
		}
	}
	return []string{
		ssh.CipherChaCha20Poly1305,
		ssh.CipherAES128GCM, ssh.CipherAES256GCM,
		ssh.CipherAES128CTR, ssh.CipherAES192CTR, ssh.CipherAES256CTR,
	}
}

// hardwareAES tells whether the processor has instructions for AES and for the multiplication that GCM needs.
func hardwareAES() bool {
	return cpu.X86.HasAES && cpu.X86.HasPCLMULQDQ ||
		cpu.ARM64.HasAES && cpu.ARM64.HasPMULL ||
		cpu.S390X.HasAES && cpu.S390X.HasGHASH
}

// signatureAlgorithms are those by which a client may prove that it has a key. The default of x/crypto holds
// "ssh-rsa" too, which signs with SHA-1.
func signatureAlgorithms() []string {
	return []string{
		ssh.KeyAlgoED25519,
		ssh.KeyAlgoSKED25519, ssh.KeyAlgoSKECDSA256,
		ssh.KeyAlgoECDSA256, ssh.KeyAlgoECDSA384, ssh.KeyAlgoECDSA521,
		ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256,
	}
}
