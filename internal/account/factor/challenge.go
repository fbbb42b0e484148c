package factor

import (
	"crypto/sha256"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"arbor/internal/account"
	"arbor/internal/db"
)

// Bounds of challenges.
const (
	challengeLife       = 5 * time.Minute
	challengesOfNetwork = 50
	maxChallenges       = 20000
	challengeLock       = "passkey challenges"
)

func digestOf(challenge string) [sha256.Size]byte { return sha256.Sum256([]byte(challenge)) }

// AskToSignIn returns the options with which a browser asks for a passkey of anybody, with which that person signs
// in. Such a passkey is the only factor, so the authenticator must check who uses it. Errors: 422, 503.
func AskToSignIn(tx *db.Tx, site, network string) (any, error) {
	w, err := party(site)
	if err != nil {
		return nil, err
	}
	asks, session, err := w.BeginDiscoverableLogin(webauthn.WithUserVerification(protocol.VerificationRequired))
	if err != nil {
		return nil, err
	}
	return asks, storeChallenge(tx, digestOf(session.Challenge), 0, network)
}

// AskForPasskey returns the options with which a browser asks for a passkey of an account. Errors: 422, 503.
func AskForPasskey(tx *db.Tx, of *account.Account, site, network string) (any, error) {
	w, u, err := partyAnd(tx, of, site)
	if err != nil {
		return nil, err
	}
	if len(u.passkeys) == 0 {
		return nil, noPasskey()
	}
	asks, session, err := w.BeginLogin(u)
	if err != nil {
		return nil, err
	}
	return asks, storeChallenge(tx, digestOf(session.Challenge), of.ID, network)
}

// AskForNewPasskey returns the options with which a browser makes a passkey for an account. Errors: 422, 503.
func AskForNewPasskey(tx *db.Tx, of *account.Account, site, network string) (any, error) {
	w, u, err := partyAnd(tx, of, site)
	if err != nil {
		return nil, err
	}
	if len(u.passkeys) >= maxPasskeys {
		return nil, tooManyPasskeys()
	}
	asks, session, err := w.BeginRegistration(u, webauthn.WithExclusions(
		webauthn.Credentials(u.WebAuthnCredentials()).CredentialDescriptors()))
	if err != nil {
		return nil, err
	}
	return asks, storeChallenge(tx, digestOf(session.Challenge), of.ID, network)
}

// userHandle is the handle of an account: its id, since a login may change.
func userHandle(id account.ID) []byte { return []byte(id.String()) }
