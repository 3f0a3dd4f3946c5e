CREATE TABLE run (
    sequence    {sequence},
    id          TEXT NOT NULL UNIQUE,
    study_id    TEXT NOT NULL,
    study       {json} NOT NULL,
    scale       TEXT NOT NULL,
    seed        {whole} NOT NULL,
    testbed     {json} NOT NULL,
    versions    {json} NOT NULL,
    status      TEXT NOT NULL CHECK (status IN ('running', 'done', 'interrupted', 'failed')),
    started_at  TEXT NOT NULL,
    ended_at    TEXT,
    command     TEXT,
    alternation {json},
    label       {json},
    summary     {json}
);
CREATE TABLE trial (
    run_id     TEXT NOT NULL REFERENCES run (id) DEFERRABLE,
    number     {whole} NOT NULL CHECK (number >= 0),
    experiment TEXT NOT NULL,
    workload   TEXT NOT NULL,
    factors    {json} NOT NULL,
    parameters {json} NOT NULL,
    block      {whole} NOT NULL CHECK (block >= 0),
    purpose    TEXT NOT NULL CHECK (purpose IN ('trial', 'search', 'confirm', 'curve')),
    status     TEXT NOT NULL CHECK (status IN ('done', 'failed')),
    started_at TEXT NOT NULL,
    elapsed_s  {real} NOT NULL,
    metrics    {json} NOT NULL,
    raw        {json} NOT NULL,
    error      {json},
    PRIMARY KEY (run_id, number)
);
CREATE TABLE series (
    run_id     TEXT NOT NULL,
    number     {whole} NOT NULL,
    name       TEXT NOT NULL,
    row_count  {whole} NOT NULL CHECK (row_count >= 0),
    size_bytes {whole} NOT NULL CHECK (size_bytes > 0),
    sha256     TEXT NOT NULL CHECK (length(sha256) = 64),
    PRIMARY KEY (run_id, number, name),
    FOREIGN KEY (run_id, number) REFERENCES trial (run_id, number) DEFERRABLE
);
CREATE TABLE digest (
    run_id       TEXT NOT NULL,
    number       {whole} NOT NULL,
    is_disturbed INTEGER NOT NULL,
    parts        TEXT NOT NULL,
    PRIMARY KEY (run_id, number, is_disturbed),
    FOREIGN KEY (run_id, number) REFERENCES trial (run_id, number) DEFERRABLE
);
