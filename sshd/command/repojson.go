package command

import "github.com/hitchpost/hitchpost"

type repoView struct {
	Unknown        *string         `json:"unknown"`
	Name           *string         `json:"name"`
	Top            *string         `json:"top"`
	Linked         bool            `json:"linked"`
	Filters        []string        `json:"filters"`
	StatusWhy      *string         `json:"status_unknown"`
	Branch         *string         `json:"branch"`
	Upstream       *string         `json:"upstream"`
	UpstreamGone   bool            `json:"upstream_gone"`
	Ahead          int             `json:"ahead"`
	Behind         int             `json:"behind"`
	Staged         namesView       `json:"staged"`
	Changed        namesView       `json:"changed"`
	Conflicted     namesView       `json:"conflicted"`
	Untracked      namesView       `json:"untracked"`
	Stashes        int             `json:"stashes"`
	Unfinished     *unfinishedView `json:"unfinished"`
	Head           *commitView     `json:"head"`
	HeadWhy        *string         `json:"head_unknown"`
	Since          commitsView     `json:"since_start"`
	Unpushed       commitsView     `json:"unpushed"`
	NoRemote       bool            `json:"no_remote"`
	FromHead       diffView        `json:"diff"`
	Checkpoint     *checkpointView `json:"checkpoint"`
	CheckpointWhy  *string         `json:"checkpoint_unknown"`
	FromCheckpoint diffView        `json:"diff_since_checkpoint"`
	Tree           *string         `json:"tree"`
	TreeWhy        *string         `json:"tree_unknown"`
}

type namesView struct {
	Count   int      `json:"count"`
	AtLeast bool     `json:"at_least"`
	First   []string `json:"first"`
	Unknown *string  `json:"unknown"`
}

type unfinishedView struct {
	Operation string  `json:"operation"`
	Step      int     `json:"step"`
	Steps     int     `json:"steps"`
	Branch    *string `json:"branch"`
}

type commitView struct {
	Hash    string `json:"hash"`
	Subject string `json:"subject"`
	At      stamp  `json:"at"`
}

type commitsView struct {
	Count   int          `json:"count"`
	AtLeast bool         `json:"at_least"`
	First   []commitView `json:"first"`
	Unknown *string      `json:"unknown"`
}

type diffView struct {
	Files      int        `json:"files"`
	Binary     int        `json:"binary"`
	Insertions int        `json:"insertions"`
	Deletions  int        `json:"deletions"`
	AtLeast    bool       `json:"at_least"`
	First      []fileView `json:"first"`
	Unknown    *string    `json:"unknown"`
}

type fileView struct {
	Path       string `json:"path"`
	Insertions int    `json:"insertions"`
	Deletions  int    `json:"deletions"`
	Binary     bool   `json:"binary"`
}

type checkpointView struct {
	N       int    `json:"n"`
	At      stamp  `json:"at"`
	Message string `json:"message"`
	Commit  string `json:"commit"`
	Files   int    `json:"files"`
	LeftOut int    `json:"left_out"`
}

func viewRepo(r hitchpost.CardRepo) repoView {
	v := repoView{
		Unknown: why(r.Unknown), Name: orNull(r.Name), Top: orNull(r.Top), Linked: r.Linked, Filters: orEmpty(r.Filters),
		StatusWhy: why(r.StatusWhy), Branch: orNull(r.Branch), Upstream: orNull(r.Upstream), UpstreamGone: r.UpstreamGone,
		Ahead: r.Ahead, Behind: r.Behind, Staged: viewNames(r.Staged), Changed: viewNames(r.Changed),
		Conflicted: viewNames(r.Conflicted), Untracked: viewNames(r.Untracked), Stashes: r.Stashes, HeadWhy: why(r.HeadWhy),
		Since: viewCommits(r.Since), Unpushed: viewCommits(r.Unpushed), NoRemote: r.NoRemote, FromHead: viewDiff(r.FromHead),
		CheckpointWhy: why(r.CheckpointWhy), FromCheckpoint: viewDiff(r.FromCheckpoint), Tree: orNull(r.Tree),
		TreeWhy: why(r.TreeWhy),
	}
	if r.Operation != "" {
		v.Unfinished = &unfinishedView{r.Operation, r.Step, r.Steps, orNull(r.Of)}
	}
	if r.Head.Hash != "" {
		head := viewCommit(r.Head)
		v.Head = &head
	}
	if c := r.Checkpoint; c != nil {
		v.Checkpoint = &checkpointView{c.N, at(c.At), c.Message, c.Commit, c.Files, c.LeftOut}
	}
	return v
}

func viewNames(n hitchpost.NameList) namesView {
	return namesView{n.Count, n.AtLeast, orEmpty(n.First), why(n.Unknown)}
}

func viewCommit(c hitchpost.Commit) commitView { return commitView{c.Hash, c.Subject, at(c.At)} }

func viewCommits(c hitchpost.CommitList) commitsView {
	return commitsView{c.Count, c.AtLeast, each(c.First, viewCommit), why(c.Unknown)}
}

func viewDiff(d hitchpost.DiffStat) diffView {
	file := func(f hitchpost.FileStat) fileView { return fileView(f) }
	return diffView{d.Files, d.Binary, d.Insertions, d.Deletions, d.AtLeast, each(d.First, file), why(d.Unknown)}
}
