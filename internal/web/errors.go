package web

import (
	"encoding/json"
	"net/http"
	"strconv"

	"arbor/internal/errs"
)

// Form writes an error in the form that the clients of a group of routes read.
type Form func(w http.ResponseWriter, r *http.Request, status int, e *errs.Error)

// For returns the form for a request whose context says more, such as the caller, than the one with which
// errors are answered.
func (f Form) For(r *http.Request) Form {
	return func(w http.ResponseWriter, _ *http.Request, status int, e *errs.Error) { f(w, r, status, e) }
}

// errorBody is the error of the code-hosting API (decision 15).
type errorBody struct {
	Message       string       `json:"message"`
	Errors        []fieldError `json:"errors,omitempty"`
	Documentation string       `json:"documentation_url"`
}

type fieldError struct {
	Resource string `json:"resource"`
	Field    string `json:"field,omitempty"`
	Code     string `json:"code"`
	Value    any    `json:"value,omitempty"`
	Message  string `json:"message,omitempty"`
}

// APIErrors is the form of the code-hosting API: never an empty body.
func APIErrors(w http.ResponseWriter, r *http.Request, status int, e *errs.Error) {
	body := errorBody{Message: e.Message, Documentation: From(r.Context()).Docs}
	for _, f := range e.Fields {
		body.Errors = append(body.Errors, fieldError(f))
	}
	if status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Basic realm="Arbor", charset="UTF-8"`)
	}
	writeError(w, "application/json; charset=utf-8", status, mustJSON(body))
}

// PlainErrors is the form of the git routes, since git shows its user plain
// text and no JSON (decision 53).
func PlainErrors(w http.ResponseWriter, r *http.Request, status int, e *errs.Error) {
	if status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Basic realm="Arbor", charset="UTF-8"`)
	}
	writeError(w, "text/plain; charset=utf-8", status, []byte(e.Message+"\n"))
}

func writeError(w http.ResponseWriter, contentType string, status int, body []byte) {
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	w.Write(body)
}

// mustJSON encodes an error body; those hold nothing that cannot be encoded.
func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		return []byte(`{"message":"Server Error"}`)
	}
	return b
}
