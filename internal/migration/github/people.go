package github

import (
	"context"
	"net/url"

	"arbor/internal/migration/remote"
)

// profiles writes people. Names and addresses are asked of those who can be assigned: the members of the team. GitHub
// shows an address only if its owner has verified it and wants it shown.
func (s *Source) profiles(ctx context.Context) error {
	team := map[string]bool{}
	err := each(ctx, s.Client, s.path+"/assignees", func(u *remote.User) error {
		team[u.Login] = true
		return nil
	})
	if err != nil && !remote.Absent(err) {
		return err
	}
	for _, person := range s.People.Sorted() {
		if !team[person.Login] {
			continue
		}
		var profile struct{ Name, Email string }
		if err := s.Get(ctx, "users/"+url.PathEscape(person.Login), &profile); err != nil && !remote.Absent(err) {
			return err
		}
		if person.Name = profile.Name; profile.Email != "" {
			person.Emails = []string{profile.Email}
		}
	}
	return s.AddPeople(ctx)
}
