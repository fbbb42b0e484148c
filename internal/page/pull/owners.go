package pull

import (
	"context"
	"fmt"
	"strings"

	"arbor/internal/codeowner"
	"arbor/internal/git"
	"arbor/internal/page"
	"arbor/internal/repo"
)

// owners notes at the heads of files who owns them by the CODEOWNERS file of the base.
func (p *Pages) owners(
	ctx context.Context, a *repo.Access, base git.SHA, list []page.ChangedFile, all map[string]any,
) error {
	if base == "" {
		return nil
	}
	owners, err := p.of.Owners.At(ctx, a, base)
	if err != nil {
		return err
	}
	for n := range list {
		all[list[n].Filename].(*around).Owners = ownersOf(owners, &list[n])
	}
	return nil
}

// maxOwners is how many owners of a file are shown.
const maxOwners = 5

// ownersOf says who owns a file, or the path that it had, by a CODEOWNERS file.
func ownersOf(of *codeowner.File, f *page.ChangedFile) string {
	list, line := of.Owner(f.Filename)
	if len(list) == 0 && f.Previous != "" {
		list, line = of.Owner(f.Previous)
	}
	if len(list) == 0 {
		return ""
	}
	more := ""
	if rest := len(list) - maxOwners; rest > 0 {
		list, more = list[:maxOwners], fmt.Sprintf(" and %d more", rest)
	}
	return fmt.Sprintf("Owned by %s%s (line %d of %s)", strings.Join(list, ", "), more, line, of.Path)
}
