package runtime

import (
	"context"
	"time"

	"github.com/hitchpost/hitchpost"
)

// Login tells who a key that has signed belongs to. It answers from memory. The error is of kind DeniedError for a key
// that is not known and RevokedError for one that is no longer good; the key is returned with the latter.
func (s *Service) Login(fingerprint, login, remote string) (hitchpost.Actor, hitchpost.Key, error) {
	key, err := s.keys.find(fingerprint, time.Now())
	if key.Fingerprint == "" {
		return hitchpost.Actor{}, key, err
	}
	a := hitchpost.Actor{
		Name: key.Actor, Role: key.Role, Fingerprint: fingerprint, KeyType: key.Type, Login: login, Remote: remote,
	}
	return a, key, err
}

// KeysChanged gets a value after the keys may have changed: who is in may have to go. It has one reader.
func (s *Service) KeysChanged() <-chan struct{} { return s.keys.news }

// Last is the id of the session that this key attached to last, from memory; empty when it never did.
func (s *Service) Last(_ context.Context, a hitchpost.Actor) string {
	return s.keys.lastSession(a.Fingerprint)
}

// LastOf is the id of the session that a client was in last, by the id that `hitchpost connect` sends; empty where that
// is not known.
func (s *Service) LastOf(ctx context.Context, client string) string {
	id, err := s.Store.ClientSession(ctx, client)
	if err != nil && hitchpost.KindOf(err) != hitchpost.NotFoundError {
		s.Log.Warn("last session of a client not found", "err", err)
	}
	return id
}

// Keys lists every key, revoked ones too.
func (s *Service) Keys(ctx context.Context, a hitchpost.Actor) ([]hitchpost.Key, error) {
	if err := a.Require(hitchpost.Administer); err != nil {
		return nil, err
	}
	return s.Store.Keys(ctx)
}

// AddKey lets a key in. The key is complete but for its times; without an actor or a role it has those that it had when
// it was revoked, and one that is new is the actor's own, as an operator.
func (s *Service) AddKey(ctx context.Context, a hitchpost.Actor, k hitchpost.Key) (hitchpost.Key, error) {
	if err := a.Require(hitchpost.Administer); err != nil {
		return hitchpost.Key{}, err
	}
	if k.Actor != "" {
		if err := hitchpost.CheckActor(k.Actor); err != nil {
			return hitchpost.Key{}, err
		}
	}
	got, err := s.Store.AddKey(ctx, k, as(a, hitchpost.FromPerson, "key added"))
	if err != nil {
		return hitchpost.Key{}, err
	}
	s.keys.put(got)
	return got, nil
}

// RevokeKey shuts a key out for good.
func (s *Service) RevokeKey(ctx context.Context, a hitchpost.Actor, fingerprint string) (hitchpost.Key, error) {
	if err := a.Require(hitchpost.Administer); err != nil {
		return hitchpost.Key{}, err
	}
	if s.keys.lastAdmins(func(k hitchpost.Key) bool { return k.Fingerprint == fingerprint }, time.Now()) {
		return hitchpost.Key{}, lastAdmin()
	}
	got, err := s.Store.RevokeKey(ctx, fingerprint, as(a, hitchpost.FromPerson, "key revoked"))
	if err != nil {
		return hitchpost.Key{}, err
	}
	s.keys.put(got)
	return got, nil
}

// RevokeActor shuts every key of an actor out for good, and returns all keys of theirs.
func (s *Service) RevokeActor(ctx context.Context, a hitchpost.Actor, name string) ([]hitchpost.Key, error) {
	if err := a.Require(hitchpost.Administer); err != nil {
		return nil, err
	}
	if s.keys.lastAdmins(func(k hitchpost.Key) bool { return k.Actor == name }, time.Now()) {
		return nil, lastAdmin()
	}
	got, err := s.Store.RevokeActor(ctx, name, as(a, hitchpost.FromPerson, "actor revoked"))
	if err != nil {
		return nil, err
	}
	s.keys.put(got...)
	return got, nil
}

func lastAdmin() error {
	return hitchpost.Errorf(hitchpost.ConflictError, "no key of an admin would be left").For("key").
		Hinted("let another admin in first, or revoke it on the machine itself")
}
