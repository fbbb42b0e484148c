package scim

import (
	"encoding/json"
	"net/http"
	"strconv"

	"arbor/internal/errs"
	"arbor/internal/external"
	"arbor/internal/web"
)

// Codes of errors besides those of package external.
const (
	badFilter = "invalidFilter"
	badSyntax = "invalidSyntax"
	badPath   = "invalidPath"
	noTarget  = "noTarget"
)

// bad is a 400 for a value.
func bad(format string, args ...any) error {
	return external.Refusal(errs.Invalid, external.BadValue, format, args...)
}

// wrong is a 400 with another code.
func wrong(code, format string, args ...any) error {
	return external.Refusal(errs.Invalid, code, format, args...)
}

// errorPayload is an error of SCIM, with the members that clients of GitHub read.
type errorPayload struct {
	Schemas []string `json:"schemas"`
	Status  string   `json:"status"`
	Type    string   `json:"scimType,omitempty"`
	Detail  string   `json:"detail"`
	Message string   `json:"message"`
	Docs    string   `json:"documentation_url"`
}

// Errors is the form of errors of SCIM (RFC 7644, 3.12). It has no 422: what cannot be done with is a 400.
func Errors(w http.ResponseWriter, r *http.Request, status int, e *errs.Error) {
	if status == http.StatusUnprocessableEntity {
		status = http.StatusBadRequest
	}
	out := errorPayload{Schemas: []string{errorSchema}, Status: strconv.Itoa(status), Detail: e.Message, Message: e.Message,
		Docs: web.From(r.Context()).Docs}
	switch {
	case len(e.Fields) > 0 && e.Fields[0].Resource == external.SCIM:
		out.Type = e.Fields[0].Code
	case e.Kind == errs.Malformed:
		out.Type = badSyntax
	case e.Kind == errs.Invalid:
		out.Type = external.BadValue
	}
	body, err := json.Marshal(out)
	if err != nil {
		body = []byte(`{}`)
	}
	h := w.Header()
	if status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", `Basic realm="Arbor", charset="UTF-8"`)
	}
	h.Set("Content-Type", mediaType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	w.Write(body)
}
