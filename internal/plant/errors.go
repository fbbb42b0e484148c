package plant

import (
	"errors"
	"net/http"
	"strconv"

	"arbor/internal/errs"
	"arbor/internal/web"
)

// Condition is a reason for which the plant store refuses a request. Numbers
// never change their meaning, and none is used twice (decision 48).
type Condition struct {
	Number int32  // "error" in the body
	Status int    // of the answer
	When   string // what leads to it, for the documentation
}

// number is the stable number of a condition. As the cause of an errs.Error it
// travels from where the condition is found to where the body is written.
type number int32

// Error creates returns the error with a number; the log shows it after the message.
func (n number) Error() string { return "plant error " + strconv.Itoa(int(n)) }

// The conditions that this package finds itself. What the server finds for all
// of its routes alike has a hundred times its status.
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

// Conditions lists every number that an error body can hold, in their order.
func Conditions() []Condition {
	return []Condition{
		{40000, 400, "the request's body could not be read to its end, or its address cannot be decoded"},
		{int32(badJSON), 400, "the body is not JSON, or not UTF-8"},
		{int32(notObject), 400, "the body is JSON but not an object"},
		{int32(noID), 400, "id was not sent, or is null"},
		{int32(badID), 400, "id is not an integer of 64 bits; 1.0, 1e3 and \"1\" are none"},
		{int32(noName), 400, "name was not sent, or is null"},
		{int32(badName), 400, "name is not a string, is empty, or contains NUL"},
		{int32(badTag), 400, "tag is neither a string nor null, or contains NUL"},
		{int32(takenID), 400, "a plant with this id is in the store, yours or another's"},
		{int32(badLimit), 400, "limit is negative, no integer, or above 2147483647"},
		{int32(badPathID), 400, "the id in the address is not an integer of 64 bits"},
		{int32(noPlant), 400, "none of the plants that you may delete has this id"},
		{40100, 401, "the bearer token is missing, wrong, expired or revoked"},
		{40300, 403, "the requests of this hour are used up"},
		{int32(noScope), 403, "the token lacks the scope plants"},
		{40400, 404, "no such path under /plants"},
		{40500, 405, "the address has no such method; Allow names those it has"},
		{41300, 413, "the body is larger than 1048576 bytes"},
		{41500, 415, "Accept excludes application/json"},
		{int32(notDeclared), 415, "Content-Type does not declare the body as JSON"},
		{42900, 429, "too many concurrent requests; retry after Retry-After seconds"},
		{50000, 500, "the server failed; its log has the cause under the request's id"},
		{50300, 503, "the server is full or stopping; try again after Retry-After seconds"},
		{50700, 507, "the server's disk is nearly full: only reading and deleting are possible"},
	}
}

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
// "..."}, where N is one of Conditions (decision 48).
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
