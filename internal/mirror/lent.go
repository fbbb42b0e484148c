package mirror

import "arbor/internal/repo"

// This file has what imports (package migration/job) share with mirrors: the check of addresses, and the encryption
// of tokens with the same key.

const forImport purpose = " import"

// CheckURL returns an address as it is stored. Error: Invalid, which calls the address remote_url; also for an inner
// address that can be told by its text.
func (s *Service) CheckURL(text string) (string, error) { return s.checkURL(text) }

// SealToken encrypts the token of an import into a repository.
func (s *Service) SealToken(id repo.ID, token string) (string, error) {
	return s.seal(id, forImport, token)
}

// OpenToken decrypts what SealToken returned. Errors: *git.RemoteError if the key is another one, or is gone.
func (s *Service) OpenToken(id repo.ID, sealed string) (string, error) {
	return s.open(id, forImport, sealed)
}
