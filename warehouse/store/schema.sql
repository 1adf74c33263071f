-- The warehouse: what is stored, one comment a table. Version 13.
-- Dimensions have integer keys; facts point to them and to the import that brought them.
-- Uniqueness, of keys and of facts, is checked while rows are staged and by `evalhouse check`, not by an index (an index would
-- cost two to three times the load).

create table meta (key varchar not null, value varchar not null);
comment on table meta is 'One row per property of the warehouse: schema_version, created, creator.';

create table import (
    id integer not null,
    source varchar not null,
    sha256 varchar not null,
    reader varchar not null,
    options varchar not null,
    imported_at timestamp not null,
    rows bigint not null,
    version varchar not null,
    simulated boolean not null default false
);
comment on table import is 'One row per load: where its rows came from, how they were read, and how many were new. Every fact points to an import.';

create table evaluation (id integer not null, name varchar not null);
comment on table evaluation is 'An evaluation with test sets of its own: MUC-4. Number 0, without a name, has the test sets that belong to no named evaluation.';
insert into evaluation values (0, '');

create table test_set (
    id integer not null,
    evaluation_id integer not null,
    name varchar not null
);
comment on table test_set is 'A set of documents that systems were evaluated on: TST3.';

create table observed (
    test_set_id integer not null,
    task varchar,
    noun varchar,
    cluster varchar,
    by_setting boolean not null,
    import_id integer not null,
    main varchar
);
comment on table observed is 'What a load declared about the documents of a test set: what a document is called, which attribute groups the documents that tests exchange together, and which measure a question is about that names none. Without a task, it holds for all kinds of rows. Settings take precedence over readers, and later loads over earlier ones.';

create table column_role (
    test_set_id integer not null, heading varchar not null, role varchar not null, import_id integer not null
);
comment on table column_role is 'What loads took the columns of tables for, so that later loads do the same: the one that names the documents of a test set, and those that are no attributes of documents or of systems.';

create table test_set_group (name varchar not null, test_set_id integer not null, pooled boolean, import_id integer not null);
comment on table test_set_group is 'Which test sets belong to a group, such as mmlu, and how they are taken together: all their documents (true), the mean over them (false), or as a printed figure of the group says (null).';

create table system (id integer not null, name varchar not null);
comment on table system is 'A system, site, run or model: GE.';

create table document (
    id integer not null,
    test_set_id integer not null,
    name varchar not null
);
comment on table document is 'The unit of observation: a message, a topic, a sample.';

create table unit (id integer not null, name varchar not null);
comment on table unit is 'A part of a document that is scored separately: a slot, an item. Number 0, without a name, is the whole document.';
insert into unit values (0, '');

create table annotator (id integer not null, name varchar not null);
comment on table annotator is 'Who gave a key label. Number 0, without a name, is the key itself.';
insert into annotator values (0, '');

create table system_attribute (
    system_id integer not null, name varchar not null, value varchar not null, import_id integer not null
);
comment on table system_attribute is 'What is known about a system: pre_parse = yes.';

create table document_attribute (
    document_id integer not null, name varchar not null, value varchar not null, import_id integer not null
);
comment on table document_attribute is 'What is known about a document: source = radio.';

create table document_identity (
    test_set_id integer not null,
    document_id integer not null,
    name varchar not null,
    begins varchar not null,
    digest varchar not null,
    import_id integer not null
);
comment on table document_identity is 'What files say that a document is, so that no load pairs it with another one of its name: its question, its right answer, its split. The text is known by its beginning and by a digest that takes no account of case and blanks.';

create table score (
    test_set_id integer not null,
    system_id integer not null,
    document_id integer not null,
    unit_id integer not null,
    possible integer not null check (possible >= 0),
    actual integer not null check (actual >= 0),
    correct integer not null check (correct >= 0),
    partial integer not null check (partial >= 0),
    incorrect integer check (incorrect >= 0),
    spurious integer check (spurious >= 0),
    missing integer check (missing >= 0),
    noncommittal integer check (noncommittal >= 0),
    import_id integer not null,
    same_place integer,
    overlapping integer,
    same_type integer,
    unpaired integer,
    check (correct + partial + coalesce(incorrect, 0) <= possible),
    check (correct + partial + coalesce(incorrect, 0) <= actual)
);
comment on table score is 'Score tuples of extraction: one row per system, document and unit. The counts from incorrect on are null where the source did not give them. The last four are of pairs of a key item and an answer, whatever their types are: with the same place, with another one that overlaps, those of the two with the same type, and answers in no pair.';

create table counted (
    test_set_id integer not null,
    system_id integer not null,
    document_id integer not null,
    unit_id integer not null,
    count varchar not null,
    number integer not null check (number >= 0),
    import_id integer not null
);
comment on table counted is 'Counts of any name: one row per system, document, unit and count. Examples are attempts, passed, and matching n-grams.';

create table decision (
    test_set_id integer not null,
    system_id integer not null,
    document_id integer not null,
    decision boolean not null,
    confidence double,
    import_id integer not null
);
comment on table decision is 'Relevance decisions: whether the system judges the document relevant, and how sure it is.';

create type label as enum ('nonrelevant', 'optional', 'relevant');

create table key_label (
    test_set_id integer not null,
    document_id integer not null,
    annotator_id integer not null,
    label label not null,
    import_id integer not null
);
comment on table key_label is 'What the key says about a document: relevant, optional (either decision is right) or nonrelevant.';

create table value (
    test_set_id integer not null,
    system_id integer not null,
    document_id integer not null,
    measure varchar not null,
    value double not null,
    import_id integer not null
);
comment on table value is 'Imported values, one row per system, document and measure: average precision, BLEU, a judge''s score.';

create table prediction (
    test_set_id integer not null,
    system_id integer not null,
    document_id integer not null,
    truth double not null,
    prediction double not null,
    import_id integer not null
);
comment on table prediction is 'Predicted numbers beside the true ones, one row per system and document: a similarity, a rating, a price.';

create table item (id integer not null, name varchar not null);
comment on table item is 'What is ranked and judged: a document of a collection, a passage.';

create table ranking (
    test_set_id integer not null,
    system_id integer not null,
    document_id integer not null,
    item_id integer not null,
    rank integer not null check (rank > 0),
    score double,
    import_id integer not null
);
comment on table ranking is 'Runs: the items that a system returns for a topic, from rank 1 on without a gap. The topic is the document here.';

create table judgment (
    test_set_id integer not null,
    document_id integer not null,
    item_id integer not null,
    grade integer not null,
    import_id integer not null
);
comment on table judgment is 'How relevant an item is to a topic. The topic is the document here; grades of 1 or more are relevant.';

create table document_text (
    test_set_id integer not null,
    document_id integer not null,
    kind varchar not null,
    number integer not null check (number > 0),
    piece integer not null check (piece > 0),
    characters integer not null check (characters >= 0),
    text varchar using compression zstd not null,
    import_id integer not null
);
comment on table document_text is 'The inputs that systems were given for a document, and the references, byte for byte as they were read. One row for each 8,000 characters.';

create table system_text (
    test_set_id integer not null,
    system_id integer not null,
    document_id integer not null,
    kind varchar not null,
    number integer not null check (number > 0),
    piece integer not null check (piece > 0),
    characters integer not null check (characters >= 0),
    text varchar using compression zstd not null,
    import_id integer not null
);
comment on table system_text is 'The outputs of a system for a document, and its input where that differs from the input of the document. Rows as in document_text.';

create table published (
    test_set_id integer not null,
    system_id integer not null,
    task varchar not null,
    measure varchar not null,
    value decimal(18, 9) not null,
    resolution decimal(18, 9) not null,
    import_id integer not null,
    documents integer,
    standard_error double,
    ci_low double,
    ci_high double,
    ci_level double
);
comment on table published is 'Figures known only as printed: 0.79 printed to 0.01. The last five columns give, where the source does, the number of documents and the uncertainty.';

create table run (
    test_set_id integer not null, system_id integer not null, model varchar not null, run varchar, date varchar, import_id integer not null
);
comment on table run is 'Which run of which model a system is on a test set, identified by the id or the date of the run.';

create table failure (
    test_set_id integer not null, system_id integer not null, item varchar not null, reason varchar not null, import_id integer not null
);
comment on table failure is 'What a system should have been scored on but was not, and why: the name of a document, or * for the whole run.';

create table direction (measure varchar not null, lower_is_better boolean not null, import_id integer not null);
comment on table direction is 'What loads declared about measures that are names in the data: whether lower values are better. One row per import and measure. For all other measures the name decides.';

create table share (measure varchar not null, import_id integer not null);
comment on table share is 'The measures that loads declared to be shares, of which values are between 0 and 1 and 5% is 0.05. For all other measures that are names in the data the name decides.';

create table definition (name varchar not null, text varchar not null, defined_at timestamp not null);
comment on table definition is 'Measures that users defined, each as the text of its define statement.';

create table fingerprint (table_name varchar not null, part bigint not null, rows bigint not null, digest varchar not null);
comment on table fingerprint is 'Checksums of the rows of each table, by import or range of numbers; evalhouse check compares them.';

create view scores as
select e.name as evaluation, t.name as test_set, s.name as system, d.name as document, nullif(u.name, '') as unit,
    f.possible, f.actual, f.correct, f.partial, f.incorrect, f.spurious, f.missing, f.noncommittal, f.import_id,
    f.same_place, f.overlapping, f.same_type, f.unpaired
from score f
join test_set t on t.id = f.test_set_id
join evaluation e on e.id = t.evaluation_id
join system s on s.id = f.system_id
join document d on d.id = f.document_id
join unit u on u.id = f.unit_id;
comment on view scores is 'Score tuples with names.';

create view counts as
select e.name as evaluation, t.name as test_set, s.name as system, d.name as document, nullif(u.name, '') as unit,
    f.count, f.number, f.import_id
from counted f
join test_set t on t.id = f.test_set_id
join evaluation e on e.id = t.evaluation_id
join system s on s.id = f.system_id
join document d on d.id = f.document_id
join unit u on u.id = f.unit_id;
comment on view counts is 'Counts with names.';

create view decisions as
select e.name as evaluation, t.name as test_set, s.name as system, d.name as document, f.decision, f.confidence, f.import_id
from decision f
join test_set t on t.id = f.test_set_id
join evaluation e on e.id = t.evaluation_id
join system s on s.id = f.system_id
join document d on d.id = f.document_id;
comment on view decisions is 'Relevance decisions with names.';

create view labels as
select e.name as evaluation, t.name as test_set, d.name as document, nullif(a.name, '') as annotator, f.label, f.import_id
from key_label f
join test_set t on t.id = f.test_set_id
join evaluation e on e.id = t.evaluation_id
join document d on d.id = f.document_id
join annotator a on a.id = f.annotator_id;
comment on view labels is 'Key labels with names; annotator is null for the key itself.';

create view cells as
select f.test_set_id, f.system_id, f.document_id, l.label, f.confidence,
    (f.decision and l.label = 'relevant')::integer as a,
    (f.decision and l.label = 'nonrelevant')::integer as b,
    (not f.decision and l.label = 'relevant')::integer as c,
    (not f.decision and l.label = 'nonrelevant')::integer as d,
    (f.decision and l.label = 'optional')::integer as x,
    (not f.decision and l.label = 'optional')::integer as y
from decision f
join key_label l on l.document_id = f.document_id and l.annotator_id = 0;
comment on view cells is 'The cell of the contingency table that each decision falls into, as 0 or 1 (Lewis and Tong 1992, figure 1).';

create view contingency as
select e.name as evaluation, t.name as test_set, s.name as system,
    sum(f.a)::bigint as a, sum(f.b)::bigint as b, sum(f.c)::bigint as c,
    sum(f.d)::bigint as d, sum(f.x)::bigint as x, sum(f.y)::bigint as y, count(*) as documents
from cells f
join test_set t on t.id = f.test_set_id
join evaluation e on e.id = t.evaluation_id
join system s on s.id = f.system_id
group by all;
comment on view contingency is 'Contingency tables of text filtering (Lewis and Tong 1992, figure 1), one row a system and test set.';

create view document_values as
select e.name as evaluation, t.name as test_set, s.name as system, d.name as document, f.measure, f.value, f.import_id
from value f
join test_set t on t.id = f.test_set_id
join evaluation e on e.id = t.evaluation_id
join system s on s.id = f.system_id
join document d on d.id = f.document_id;
comment on view document_values is 'Imported values with names.';

create view predictions as
select e.name as evaluation, t.name as test_set, s.name as system, d.name as document, f.truth, f.prediction, f.import_id
from prediction f
join test_set t on t.id = f.test_set_id
join evaluation e on e.id = t.evaluation_id
join system s on s.id = f.system_id
join document d on d.id = f.document_id;
comment on view predictions is 'Predicted numbers with names.';

create view rankings as
select e.name as evaluation, t.name as test_set, s.name as system, d.name as document, i.name as item, f.rank, f.score, f.import_id
from ranking f
join test_set t on t.id = f.test_set_id
join evaluation e on e.id = t.evaluation_id
join system s on s.id = f.system_id
join document d on d.id = f.document_id
join item i on i.id = f.item_id;
comment on view rankings is 'Runs with names.';

create view judgments as
select e.name as evaluation, t.name as test_set, d.name as document, i.name as item, f.grade, f.import_id
from judgment f
join test_set t on t.id = f.test_set_id
join evaluation e on e.id = t.evaluation_id
join document d on d.id = f.document_id
join item i on i.id = f.item_id;
comment on view judgments is 'Judgments with names.';

create view texts as
with piece as (
    select test_set_id, null::integer as system_id, document_id, kind, number, piece, characters, text, import_id from document_text
    union all
    select test_set_id, system_id, document_id, kind, number, piece, characters, text, import_id from system_text
), whole as (
    select test_set_id, system_id, document_id, kind, number, text, import_id from piece where characters <= 8000
    union all
    select test_set_id, system_id, document_id, kind, number, string_agg(text, '' order by piece), import_id from piece
    where characters > 8000 group by all
)
select e.name as evaluation, t.name as test_set, s.name as system, d.name as document, f.kind, f.number, f.text, f.import_id
from whole f
join test_set t on t.id = f.test_set_id
join evaluation e on e.id = t.evaluation_id
join document d on d.id = f.document_id
left join system s on s.id = f.system_id;
comment on view texts is 'Inputs, references and outputs with names; system is null for references, and for inputs that every system was given.';

create view published_figures as
select e.name as evaluation, t.name as test_set, s.name as system, f.task, f.measure, f.value, f.resolution, f.import_id,
    f.documents, f.standard_error, f.ci_low, f.ci_high, f.ci_level
from published f
join test_set t on t.id = f.test_set_id
join evaluation e on e.id = t.evaluation_id
join system s on s.id = f.system_id;
comment on view published_figures is 'Published figures with names.';

create view runs as
select e.name as evaluation, t.name as test_set, s.name as system, f.model, f.run, f.date, f.import_id
from run f
join test_set t on t.id = f.test_set_id
join evaluation e on e.id = t.evaluation_id
join system s on s.id = f.system_id;
comment on view runs is 'Runs of models with names.';

create view failures as
select e.name as evaluation, t.name as test_set, s.name as system, f.item, f.reason, f.import_id
from failure f
join test_set t on t.id = f.test_set_id
join evaluation e on e.id = t.evaluation_id
join system s on s.id = f.system_id;
comment on view failures is 'What failed, with names.';

create view system_attributes as
select s.name as system, f.name as attribute, f.value, f.import_id
from system_attribute f join system s on s.id = f.system_id;
comment on view system_attributes is 'Attributes of systems with names.';

create view document_attributes as
select e.name as evaluation, t.name as test_set, d.name as document, f.name as attribute, f.value, f.import_id
from document_attribute f
join document d on d.id = f.document_id
join test_set t on t.id = d.test_set_id
join evaluation e on e.id = t.evaluation_id;
comment on view document_attributes is 'Attributes of documents with names.';

insert into meta values ('schema_version', '13');
