package factor

import (
	"net"
	"net/url"
	"strings"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
)

const (
	maxPasskeys     = 25       // of an account
	maxAnswer       = 64 << 10 // bytes of a browser's answer
	maxCredentialID = 1023     // bytes, as WebAuthn says
)

func noPasskey() error { return errs.New(errs.Invalid, "That passkey is not valid for your account.") }

func copied() error {
	return errs.New(errs.Invalid, "That passkey may have been copied: it counts fewer uses than before. Remove it.")
}

func tooManyPasskeys() error {
	return errs.Newf(errs.Invalid, "An account has at most %d passkeys.", maxPasskeys)
}

// party is the site as authenticators know it: by its host. Its origin is the address of the pages. Error: 422 for a
// site that is opened by an IP address, which has no passkeys.
func party(site string) (*webauthn.WebAuthn, error) {
	u, err := url.Parse(site)
	if err != nil || u.Hostname() == "" || net.ParseIP(u.Hostname()) != nil {
		return nil, errs.New(errs.Invalid,
			"Passkeys need a site with a host name: this one is opened by an IP address.")
	}
	w, err := webauthn.New(&webauthn.Config{RPID: u.Hostname(), RPDisplayName: "Arbor", RPOrigins: []string{site},
		AttestationPreference: protocol.PreferNoAttestation,
		AuthenticatorSelection: protocol.AuthenticatorSelection{
			ResidentKey: protocol.ResidentKeyRequirementPreferred, UserVerification: protocol.VerificationPreferred}})
	if err != nil {
		return nil, errs.Wrap(errs.Invalid, "Passkeys do not work at this address of the site.", err)
	}
	return w, nil
}

// CanHave reports whether passkeys work at an address of the site.
func CanHave(site string) bool {
	_, err := party(site)
	return err == nil
}

// user is an account as the library sees it.
type user struct {
	of       *account.Account
	passkeys []Passkey
}

func readUser(tx *db.Tx, of *account.Account) (*user, error) {
	list, err := Passkeys(tx, of.ID)
	return &user{of, list}, err
}

// partyAnd returns the relying party of a site, and an account as a user of it. Error: 422, as of party.
func partyAnd(tx *db.Tx, of *account.Account, site string) (*webauthn.WebAuthn, *user, error) {
	w, err := party(site)
	if err != nil {
		return nil, nil, err
	}
	u, err := readUser(tx, of)
	return w, u, err
}

func (u *user) WebAuthnID() []byte          { return userHandle(u.of.ID) }
func (u *user) WebAuthnName() string        { return u.of.Login }
func (u *user) WebAuthnDisplayName() string { return u.of.Login }

func (u *user) WebAuthnCredentials() []webauthn.Credential {
	list := make([]webauthn.Credential, len(u.passkeys))
	for n, p := range u.passkeys {
		list[n] = webauthn.Credential{ID: p.credential, PublicKey: p.publicKey,
			Flags:         webauthn.CredentialFlags{BackupEligible: p.backup},
			Authenticator: webauthn.Authenticator{SignCount: uint32(p.count)}}
	}
	return list
}

// AddPasskey stores the passkey that a browser made for an account. Error: 422.
func AddPasskey(tx *db.Tx, of *account.Account, name string, p Proof) error {
	if name = strings.TrimSpace(name); name == "" {
		name = "Passkey"
	}
	if err := account.CheckLine("name", name); err != nil {
		return err
	}
	w, u, err := partyAnd(tx, of, p.Site)
	if err != nil {
		return err
	}
	if len(u.passkeys) >= maxPasskeys {
		return tooManyPasskeys()
	}
	made, err := readNewPasskey(p.Passkey)
	if err != nil {
		return err
	}
	challenge := made.Response.CollectedClientData.Challenge
	if whose, err := takeChallenge(tx, digestOf(challenge)); err != nil || whose != of.ID {
		return orInvalid(err)
	}
	c, err := w.CreateCredential(u, webauthn.SessionData{Challenge: challenge, UserID: u.WebAuthnID(),
		UserVerification: protocol.VerificationPreferred, CredParams: webauthn.CredentialParametersDefault()}, made)
	if err != nil {
		return errs.Wrap(errs.Invalid, "The browser's answer is not valid: try again.", err)
	}
	if len(c.ID) > maxCredentialID {
		return orInvalid(nil)
	}
	return insertPasskey(tx, &Passkey{Name: name, account: of.ID, credential: c.ID, publicKey: c.PublicKey,
		count: int64(c.Authenticator.SignCount), backup: c.Flags.BackupEligible})
}

// readNewPasskey parses a browser's answer. Error: 422.
func readNewPasskey(text string) (*protocol.ParsedCredentialCreationData, error) {
	if len(text) > maxAnswer {
		return nil, orInvalid(nil)
	}
	made, err := protocol.ParseCredentialCreationResponseBytes([]byte(text))
	if err != nil {
		return nil, errs.Wrap(errs.Invalid, "The browser's answer is not valid: try again.", err)
	}
	return made, nil
}

// readAnswer parses a browser's answer. Error: 422.
func readAnswer(text string) (*protocol.ParsedCredentialAssertionData, error) {
	if len(text) > maxAnswer {
		return nil, noPasskey()
	}
	answer, err := protocol.ParseCredentialRequestResponseBytes([]byte(text))
	if err != nil {
		return nil, errs.Wrap(errs.Invalid, noPasskey().Error(), err)
	}
	return answer, nil
}

// orInvalid turns the error for a challenge that is not there into a 422.
func orInvalid(err error) error {
	if err == nil || errs.Is(err, errs.NotFound) {
		return errs.New(errs.Invalid, "The browser's answer came too late, or twice: try again.")
	}
	return err
}

// Owner returns whose passkey answers, which is not checked yet. Error: 422.
func Owner(tx *db.Tx, p Proof) (account.ID, error) {
	answer, err := readAnswer(p.Passkey)
	if err != nil {
		return 0, err
	}
	found, err := passkeyByCredential(tx, answer.RawID)
	if errs.Is(err, errs.NotFound) {
		return 0, errs.New(errs.Invalid, "This passkey is not known here.")
	}
	return found.account, err
}

// UseAlone takes a passkey as the only factor of an account. Error: 422.
func UseAlone(tx *db.Tx, of account.ID, p Proof) error { return usePasskey(tx, of, p, true) }

// usePasskey takes a browser's answer for a passkey of the account, which must be the answer to a challenge that was
// stored for it; alone: to one that was stored for anybody, by an authenticator that checked who uses it. Error: 422.
func usePasskey(tx *db.Tx, of account.ID, p Proof, alone bool) error {
	answer, err := readAnswer(p.Passkey)
	if err != nil {
		return err
	}
	w, err := party(p.Site)
	if err != nil {
		return err
	}
	found, err := passkeyByCredential(tx, answer.RawID)
	switch {
	case errs.Is(err, errs.NotFound) || err == nil && found.account != of:
		return noPasskey()
	case err != nil:
		return err
	}
	challenge := answer.Response.CollectedClientData.Challenge
	session := webauthn.SessionData{Challenge: challenge, UserID: userHandle(of),
		UserVerification: protocol.VerificationPreferred}
	whose, err := takeChallenge(tx, digestOf(challenge))
	if alone {
		session.UserVerification = protocol.VerificationRequired
		if len(answer.Response.UserHandle) == 0 {
			return noPasskey()
		}
		of = 0
	}
	if err != nil || whose != of {
		return orInvalid(err)
	}
	u := &user{&account.Account{ID: found.account}, []Passkey{found}}
	c, err := w.ValidateLogin(u, session, answer)
	if err != nil {
		return errs.Wrap(errs.Invalid, noPasskey().Error(), err)
	}
	if c.Authenticator.CloneWarning {
		return copied()
	}
	return notePasskey(tx, found, int64(c.Authenticator.SignCount))
}
