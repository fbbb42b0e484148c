package app

import (
	"arbor/internal/account"
	"arbor/internal/db"
)

// ByIDs returns Apps by their ids. Those that were deleted are missing.
func ByIDs(tx *db.Tx, ids []account.AppID) (map[account.AppID]*App, error) { return findApps(tx, ids) }

// InstalledBySlug returns those Apps with one of the slugs that are installed on an account, by slug.
func InstalledBySlug(tx *db.Tx, on account.ID, slugs []string) (map[string]*App, error) {
	found, args := map[string]*App{}, []any{on}
	for _, slug := range slugs {
		if plausible(slug) {
			args = append(args, account.Fold(slug))
		}
	}
	if len(args) == 1 {
		return found, nil
	}
	list, err := appsWhere(tx, `EXISTS (SELECT 1 FROM installations n WHERE n.app_id = a.id AND n.account_id = $1)
		AND a.slug IN `+db.ValuesFrom(2, 1, len(args)-1), args...)
	for _, a := range list {
		found[a.Slug] = a
	}
	return found, err
}
