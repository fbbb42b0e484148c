package page

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"arbor/internal/account"
	"arbor/internal/errs"
)

// FactorRule returns the rule of second factors of an organization, or of the site for ""; nil: none.
func FactorRule(r *http.Request, accounts *account.Service, org string) (*account.FactorRule, error) {
	rule, err := accounts.FactorRuleOf(r.Context(), org)
	if errs.Is(err, errs.NotFound) {
		rule, err = nil, nil
	}
	return rule, err
}

// ChangeFactorRule does what the form of the template factorrule says. Errors: 403, 404, 422.
func ChangeFactorRule(
	ctx context.Context, form Form, accounts *account.Service, by *account.Caller, org string,
) error {
	if form.Get("do") == "end" {
		return accounts.EndFactorRule(ctx, by, org)
	}
	days, err := strconv.Atoi(form.Text("days"))
	if err != nil || days < 0 || days > int(account.MaxFactorGrace/(24*time.Hour)) {
		return errs.New(errs.Invalid, "The days of grace are a number up to 90.")
	}
	return accounts.RequireFactors(ctx, by, org, time.Duration(days)*24*time.Hour)
}
