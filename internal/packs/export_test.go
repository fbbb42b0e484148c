package packs

import "context"

// MakeRoom is makeRoom.
func (s *Service) MakeRoom(ctx context.Context, need int64) (done func(), err error) {
	return s.makeRoom(ctx, need)
}
