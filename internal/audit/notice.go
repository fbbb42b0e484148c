package audit

import (
	"arbor/internal/db"
	"arbor/internal/mail"
)

// NoticeMail is the kind of mails that tell people what happened to the security of their account.
const NoticeMail mail.Kind = "notice"

// Notice is what such a mail is about.
type Notice struct {
	Event int64 `json:"event"` // of the log
}

// NewPlace is true in the changes of a [UserLogin] from a network and a browser that the account did not use before.
const NewPlace = "new_place"

// noticed lists the actions that send the user a mail. Those with must are sent even if the user's queue is full: a token
// can create keys and tokens without limit, and must not suppress them.
var noticed = map[Action]struct{ must bool }{
	UserPassword: {true}, UserAddEmail: {true}, UserRemoveEmail: {true}, UserVerifyEmail: {true},
	FactorAdd: {true}, FactorRemove: {true}, FactorDisabled: {true}, RecoveryCodes: {true},
	IdentityLink: {true}, IdentityUnlink: {true}, UserLogin: {true},
	TokenCreate: {}, OAuthCreate: {}, KeyCreate: {}, GPGKeyCreate: {}, SigningKeyCreate: {},
}

// notify writes the mail about an event.
func notify(tx *db.Tx, e *Entry, id int64) error {
	how, is := noticed[e.Action]
	if !is || e.User.ID == 0 || e.Repo.ID != 0 || e.Action == UserLogin && e.Changes[NewPlace] != true {
		return nil
	}
	return mail.Add(tx, mail.Mail{Kind: NoticeMail, Account: e.User.ID, About: Notice{id}, Must: how.must})
}

// ByID reads an event of the log. Error: db.ErrNoRows.
func ByID(tx *db.Tx, id int64) (Event, error) {
	return scan(tx.QueryRow(`SELECT `+columns+` FROM audit WHERE id = $1`, id))
}
