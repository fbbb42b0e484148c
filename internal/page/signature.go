package page

import (
	"arbor/internal/account/signkey"
	"arbor/internal/signature"
)

// Verified is what a badge next to a commit or tag says of its signature.
type Verified struct {
	Label  string // Verified or Unverified
	Good   bool
	About  string // why
	KeyOf  string // what the handle of the key is: GPG key id
	Handle string // of the key; empty: unknown
	Signer *User  // whose key verified it; nil: nobody's, or the server's
}

// NewVerified returns the badge of a signature, or nil without one.
func NewVerified(v signature.Verification) *Verified {
	if v.Reason == signature.Unsigned || v.Reason == "" {
		return nil
	}
	b := &Verified{Label: "Unverified", About: reasons[v.Reason], Handle: v.Handle, KeyOf: "GPG key"}
	if v.Kind == signkey.SSH {
		b.KeyOf = "SSH key"
	}
	if v.Valid() {
		b.Label, b.Good, b.Signer = "Verified", true, NewUser(v.Signer)
		b.About = "Signed with a key of the committer."
		if v.ByServer {
			b.About = "Made on this site, and signed with its key."
		}
	}
	return b
}

// reasons say why signatures are not verified.
var reasons = map[signature.Reason]string{
	signature.UnknownType:     "The signature is neither by GPG nor by SSH.",
	signature.Malformed:       "The signature cannot be read.",
	signature.UnknownKey:      "Nobody here has added the key.",
	signature.Invalid:         "The signature does not match the content.",
	signature.NotSigningKey:   "The key is not for signing.",
	signature.ExpiredKey:      "The key is expired or revoked.",
	signature.NoUser:          "The committer's address is not that of a user.",
	signature.UnverifiedEmail: "The committer's address is not verified.",
	signature.BadEmail:        "The key is not for the committer's address.",
}
