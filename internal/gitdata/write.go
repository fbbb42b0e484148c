package gitdata

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// refuseEmpty returns 409 for a repository without refs (decision 16).
func (s *Service) refuseEmpty(ctx context.Context, a *repo.Access) error {
	refs, err := s.repos.Refs(ctx, a)
	if err == nil && len(refs.List) == 0 {
		err = errs.New(errs.Conflict, "Git Repository is empty.")
	}
	return err
}

// fullSHA reads the SHA in an address. Its error is GitHub's.
func fullSHA(r *http.Request) (git.SHA, error) {
	sha, err := git.ParseSHA(web.Param(r, "sha"))
	if err != nil || sha.IsZero() {
		return "", errs.New(errs.Invalid,
			"The sha parameter must be exactly 40 characters and contain only [0-9a-f].")
	}
	return sha, nil
}

// readSHA reads a field with a SHA. It reports a missing one if it is required, and always one that is not
// a full SHA.
func readSHA(o *web.Object, field string, required bool) git.SHA {
	if required {
		o.Require(field)
	}
	v := o.String(field, 0)
	if !v.Given() || v.Value == "" {
		return ""
	}
	return parseSHA(&o.Faults, field, v.Value)
}

// ParseSHA parses the full SHA that a field of a resource must have. Error: 422.
func ParseSHA(resource, field, value string) (git.SHA, error) {
	f := web.Faults{Resource: resource}
	if value == "" {
		f.Wrong(field, errs.MissingField, "")
		return "", f.Err()
	}
	return parseSHA(&f, field, value), f.Err()
}

func parseSHA(o *web.Faults, field, value string) git.SHA {
	sha, err := git.ParseSHA(value)
	if err != nil || sha.IsZero() {
		o.Wrong(field, errs.InvalidField, field+" must be a full SHA of 40 hexadecimal digits")
		return ""
	}
	return sha
}

// readPerson reads author, committer or tagger: an object of name, email and date. Both the object and its
// date default to fallback.
func readPerson(o *web.Object, field, resource string, fallback git.Signature) git.Signature {
	raw := o.Raw(field)
	if len(raw) == 0 || string(raw) == "null" {
		return fallback
	}
	person, err := web.ParseObject(raw, resource)
	if err != nil {
		o.Wrong(field, errs.InvalidField, field+" must be an object of name, email and date")
		return fallback
	}
	person.Require("name", "email")
	who := git.Signature{Name: strings.TrimSpace(person.String("name", 0).Value),
		Email: strings.TrimSpace(person.String("email", 0).Value), When: fallback.When}
	if date := person.String("date", 0); date.Given() {
		if who.When, err = git.ParseDate(date.Value); err != nil {
			o.Wrong(field+".date", errs.InvalidField, err.Error())
			return fallback
		}
	}
	if wrong := fieldsOf(person.Err()); len(wrong) > 0 {
		for _, f := range wrong {
			o.Wrong(field+"."+f.Field, f.Code, f.Message)
		}
		return fallback
	}
	if err := who.Check(); err != nil {
		o.Wrong(field, errs.InvalidField, field+": "+err.Error())
	}
	return who
}

func fieldsOf(err error) []errs.Field {
	var e *errs.Error
	if errors.As(err, &e) {
		return e.Fields
	}
	return nil
}

// identity returns the caller as author.
func (api *API) identity(r *http.Request) (git.Signature, error) {
	return api.s.repos.Identity(r.Context(), account.CallerFrom(r.Context()))
}
