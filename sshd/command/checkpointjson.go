package command

import "github.com/hitchpost/hitchpost"

type keptView struct {
	N       int     `json:"n"`
	At      stamp   `json:"at"`
	Message string  `json:"message"`
	Commit  string  `json:"commit"`
	Head    *string `json:"head"`
	Files   int     `json:"files"`
	LeftOut int     `json:"left_out"`
}

func viewKept(c hitchpost.Checkpoint) keptView {
	return keptView{c.N, at(c.At), c.Message, c.Commit, orNull(c.Head), c.Files, c.LeftOut}
}

type keptList struct {
	Version     int        `json:"version"`
	Checkpoints []keptView `json:"checkpoints"`
}

func listCheckpoints(list []hitchpost.Checkpoint) keptList { return keptList{1, each(list, viewKept)} }

type madeView struct {
	keptView
	New  bool          `json:"new"`
	Left []leftOutView `json:"left"`
}

type leftOutView struct {
	Path string `json:"path"`
	Why  string `json:"why"`
	Size int64  `json:"size"`
}

func viewMade(m hitchpost.MadeCheckpoint) madeView {
	return madeView{viewKept(m.Checkpoint), m.New, each(m.Left, func(l hitchpost.LeftOutFile) leftOutView {
		return leftOutView(l)
	})}
}

type checkpointDiffView struct {
	Checkpoint keptView `json:"checkpoint"`
	Stat       diffView `json:"stat"`
	Patch      string   `json:"patch"`
	Cut        bool     `json:"cut"`
}

func viewCheckpointDiff(d hitchpost.CheckpointDiff) checkpointDiffView {
	return checkpointDiffView{viewKept(d.Checkpoint), viewDiff(d.Stat), d.Patch, d.Cut}
}

type restoredView struct {
	keptView
	Branch string `json:"branch"`
}
