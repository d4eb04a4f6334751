package environment

import "crypto/rand"

// fingerprintKey is the value with the random text for fingerprints of a cluster's secrets.
const fingerprintKey = "secret_fingerprint_key"

// WithFingerprintKey returns the environment with a new random key for fingerprints of secrets, unless it has one.
func (e *Environment) WithFingerprintKey() (*Environment, error) {
	if e.fingerprintKey() != "" {
		return e, nil
	}
	return e.WithOverrides(map[string]any{fingerprintKey: rand.Text()})
}

// keepFingerprintKey returns the environment with the key that a cluster was last given, unless it has its own.
func (e *Environment) keepFingerprintKey(before map[string]any) (*Environment, error) {
	key, _ := before[fingerprintKey].(string)
	if key == "" || e.fingerprintKey() != "" {
		return e, nil
	}
	return e.WithOverrides(map[string]any{fingerprintKey: key})
}

func (e *Environment) fingerprintKey() string {
	key, _ := e.effective.merged()[fingerprintKey].(string)
	return key
}
