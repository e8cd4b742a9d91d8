package command

import "github.com/hitchpost/hitchpost"

type eventView struct {
	ID          int64            `json:"id"`
	At          stamp            `json:"at"`
	Event       string           `json:"event"`
	SessionID   *string          `json:"session_id"`
	Handle      *string          `json:"handle"`
	FromState   *string          `json:"from_state"`
	ToState     *string          `json:"to_state"`
	Actor       *string          `json:"actor"`
	Fingerprint *string          `json:"fingerprint"`
	Source      hitchpost.Source `json:"source"`
	Reason      *string          `json:"reason"`
}

func viewEvent(e hitchpost.Event) eventView {
	return eventView{
		ID: e.ID, At: at(e.At), Event: e.Kind, SessionID: orNull(e.SessionID), Handle: orNull(e.Handle),
		FromState: orNull(string(e.From)), ToState: orNull(string(e.To)), Actor: orNull(e.Actor),
		Fingerprint: orNull(e.Fingerprint), Source: e.Source, Reason: orNull(e.Reason),
	}
}
