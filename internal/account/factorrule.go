package account

import (
	"cmp"
	"context"
	"time"

	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
)

// MaxFactorGrace is the longest time between the decision that second factors are required and its effect.
const MaxFactorGrace = 90 * 24 * time.Hour

// FactorRule is a decision that people must have a second factor: of an organization, for its members and outside
// collaborators, or of the site, for everybody. Once it is in force, those without one can use nothing but the pages
// where they add one or leave: [Caller].NeedsFactor, [FactorNeeded].
type FactorRule struct {
	Org      string // login; empty: the site
	BeginsAt db.Time
	InForce  bool
}

// FactorNeeded is the 403 for tokens and keys of people who must have a second factor, and have none.
func FactorNeeded() error {
	return errs.New(errs.Forbidden, "Your account must have a second factor. Sign in with your password on the "+
		"pages, and add one at Settings > Two-factor authentication.")
}

// RequireFactors has an organization, or the site if org is empty, require second factors after a grace time, in place
// of what it decided before. by is the acting owner or site administrator, who must have a factor; nil: the operator.
// Errors: 403, 404, 422.
func (s *Service) RequireFactors(ctx context.Context, by *Caller, org string, grace time.Duration) error {
	if grace < 0 || grace > MaxFactorGrace {
		return errs.Newf(errs.Invalid, "The grace time has between 0 and %d days.", MaxFactorGrace/(24*time.Hour))
	}
	return s.changeFactorRule(ctx, by, org, func(tx *db.Tx, a *Account) error {
		return requireFactors(tx, by, a, grace)
	})
}

// EndFactorRule takes that back. Errors: 403, 404.
func (s *Service) EndFactorRule(ctx context.Context, by *Caller, org string) error {
	return s.changeFactorRule(ctx, by, org, endFactorRule)
}

// changeFactorRule changes the rule of an organization that the caller owns. org is empty for the site, and change then
// gets a nil account.
func (s *Service) changeFactorRule(
	ctx context.Context, by *Caller, org string, change func(tx *db.Tx, a *Account) error,
) error {
	return s.db.WriteAs(ctx, by, func(tx *db.Tx) error {
		switch {
		case org == "":
			if by != nil && !by.SiteAdmin {
				return errs.Absent()
			}
			if err := tx.Lock("factor rules"); err != nil {
				return err
			}
			return change(tx, nil)
		case by != nil:
			a, err := ownedOrg(tx, by, org)
			if err != nil {
				return err
			}
			return change(tx, a)
		}
		a, err := ByLogin(tx, org)
		if err == nil && a.Kind != Organization {
			err = errs.Newf(errs.Invalid, "%q is not an organization", a.Login)
		}
		if err == nil {
			err = lockAccount(tx, a.ID)
		}
		if err != nil {
			return err
		}
		return change(tx, a)
	})
}

// requireFactors stores the rule of an organization whose row is held, or of the site (nil), and records it.
func requireFactors(tx *db.Tx, by *Caller, a *Account, grace time.Duration) error {
	if by != nil {
		if has, err := hasFactor(tx, by.ID); err != nil || !has {
			return cmp.Or[error](err, errs.New(errs.Invalid, "Add a second factor to your own account first."))
		}
	}
	begins := tx.Now + db.Time(grace.Microseconds())
	if err := storeFactorRule(tx, a, begins, grace == 0); err != nil {
		return err
	}
	return recordFactorRule(tx, a, true, map[string]any{"begins_at": begins})
}

// changeFactors applies what an edit says of the factors of an organization's people.
func (e *Edit) changeFactors(tx *db.Tx, by *Caller, a *Account) (err error) {
	if a.FactorsRequired, err = requiresFactors(tx, a.ID); err != nil {
		return err
	}
	want := e.FactorsRequired.Or(a.FactorsRequired)
	if want == a.FactorsRequired {
		return nil
	}
	if a.FactorsRequired = want; want {
		return requireFactors(tx, by, a, 0)
	}
	return errs.New(errs.Forbidden, "Tokens cannot end the two-factor requirement. Use the organization's settings page.")
}

// endFactorRule removes the rule, and records it if there was one.
func endFactorRule(tx *db.Tx, a *Account) error {
	was, err := deleteFactorRule(tx, a)
	if err != nil || !was {
		return err
	}
	return recordFactorRule(tx, a, false, nil)
}

func recordFactorRule(tx *db.Tx, a *Account, on bool, told map[string]any) error {
	switch {
	case a == nil && on:
		return audit.Record(tx, audit.Entry{Action: audit.SiteFactorsOn, Right: audit.SiteAdmin, Changes: told})
	case a == nil:
		return audit.Record(tx, audit.Entry{Action: audit.SiteFactorsOff, Right: audit.SiteAdmin, Changes: told})
	case on:
		return Record(tx, audit.OrgFactorsOn, a, audit.OrgOwner, told)
	}
	return Record(tx, audit.OrgFactorsOff, a, audit.OrgOwner, told)
}

// FactorRuleOf returns the rule of an organization, or of the site for "". Error: 404 if there is none.
func (s *Service) FactorRuleOf(ctx context.Context, org string) (rule *FactorRule, err error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) (*FactorRule, error) { return factorRuleOf(tx, org) })
}

// FactorRulesFor lists the rules that bind a user, the site's first.
func (s *Service) FactorRulesFor(ctx context.Context, id ID) (list []FactorRule, err error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) ([]FactorRule, error) { return factorRulesFor(tx, id) })
}

// BeginFactorRules puts rules whose grace time has ended into force. A worker calls it often.
func BeginFactorRules(ctx context.Context, d *db.DB) error {
	due, err := db.Get(ctx, d, func(tx *db.Tx) (bool, error) { return factorRuleDue(tx) })
	if err != nil || !due {
		return err
	}
	return d.Write(ctx, beginFactorRules)
}
