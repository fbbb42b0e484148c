package plant

import (
	"errors"
	"net/http"
	"strconv"

	"arbor/internal/errs"
	"arbor/internal/web"
)

// number is the number of a reason for which the plant store refuses a request. Numbers never change their meaning,
// and none is used twice (decision 48). As the cause of an errs.Error it travels from where the condition is found to
// where the body is written.
type number int32

// Error creates returns the error with a number; the log shows it after the message.
func (n number) Error() string { return "plant error " + strconv.Itoa(int(n)) }

// The conditions that this package finds itself; a condition that the server finds for all routes alike has a
// hundred times its status. The table of the store's document (package apidoc) says what leads to each.
const (
	badJSON     number = 40001
	notObject   number = 40002
	noID        number = 40003
	badID       number = 40004
	noName      number = 40005
	badName     number = 40006
	badTag      number = 40007
	takenID     number = 40008
	badLimit    number = 40009
	badPathID   number = 40010
	noPlant     number = 40011
	noScope     number = 40301
	notDeclared number = 41501
)

// refuse returns the 400 of a condition.
func refuse(n number, message string) *errs.Error {
	return errs.Wrap(errs.Malformed, message, n)
}

// NoScope is the 403 for a token that lacks the scope plants.
func NoScope() error {
	return errs.Wrap(errs.Forbidden,
		"Your token has not been granted the required scopes: this needs one of plants.", noScope)
}

// Errors is the form of error bodies under /plants: {"error": N, "message":
// "..."}, where N is one of the numbers (decision 48).
func Errors(w http.ResponseWriter, _ *http.Request, status int, e *errs.Error) {
	n := number(status * 100)
	errors.As(e.Err, &n)
	h := w.Header()
	if status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", "Bearer")
	}
	body, _ := web.Marshal(struct { // which cannot fail
		Error   number `json:"error"`
		Message string `json:"message"`
	}{n, e.Message})
	_ = answer(w, status, body) // a client that is gone reads no error
}
