//! What was said about hints, understood: the values other rooms read, and how each came about.

use super::facts::{Facts, LONGEST_VALUE, Word};
use super::request::{Entry, Request};
use super::table::{self, Effect, Kind, Row, TABLE, When};
use super::value::{self, Toggle};
use crate::report::Wanted;
use std::fmt::Write;

/// The hints of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the names and meanings are the table's
pub struct Hints {
    pub romio_ds_read: Toggle,
    pub romio_ds_write: Toggle,
    pub ind_rd_buffer_size: u64,
    pub ind_wr_buffer_size: u64,
    /// Zero: from the cores a rank has.
    pub num_threads: u64,
    pub cb_buffer_size: u64,
    /// `None`: as many as there are ranks.
    pub cb_nodes: Option<u64>,
    /// Whether accesses may go on in the background.
    pub progress: bool,
    /// `None`: nobody has said anything.
    pub cb_config_list: Option<String>,
    /// The names of what was chosen; "automatic" where nothing was.
    pub layers: String,
    pub partitioning: String,
    pub transfer: String,
    pub overlap: String,
    /// Zero: one on each node.
    pub local_aggregators: u64,
    pub lustre_co_ratio: Option<u64>,
    pub nodes_multiplier: Option<u64>,
    pub fitting_stripes: bool,
    /// The name of the scheme; "automatic" where nothing was said in any way.
    pub lock_ahead: String,
    pub lock_ahead_reads: bool,
    pub lock_ahead_individual: String,
    pub lock_ahead_requests: String,
    pub lock_ahead_most: u64,
    pub data_shipping: bool,
    pub data_shipping_agents: Vec<i32>,
    pub data_shipping_partition: u64,
    pub declare_ranges: bool,
    pub fine_grain_writes: bool,
    pub clear_cache: bool,
    pub prefetch: Toggle,
    pub direct_read: bool,
    pub direct_write: bool,
    pub direct_io: bool,
    /// `None`: the library's own.
    pub coll_threshold: Option<u64>,
    pub ds_in_coll: Toggle,
    pub romio_cb_read: Toggle,
    pub romio_cb_write: Toggle,
    pub no_indep_rw: bool,
    /// `Some(-1)`: all devices. `None`: the file system's choice.
    pub striping_factor: Option<i64>,
    /// `None`: the file system's choice.
    pub striping_unit: Option<u64>,
    /// `None`: the file system's choice.
    pub start_iodevice: Option<u64>,
    pub access_style: Option<String>,
    pub file_perm: Option<u32>,
    /// The driver to use whatever the file system is, by its prefix without the colon.
    pub filesystem: Option<String>,
    pub report: Wanted,
    pub verbose: bool,
    /// One for each row of the table.
    settings: Vec<Setting>,
    notes: Vec<String>,
}

/// The state of one hint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Setting {
    /// The last entry that was understood; none where the default holds.
    accepted: Option<Entry>,
    /// The last entry that was not, if it came after that, and why.
    refused: Option<(Entry, String)>,
    /// The value, in its one spelling; none where there is no default.
    value: Option<String>,
}

/// One hint somebody said something about: what was asked, what holds, and why that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The hint's name in the table.
    pub key: &'static str,
    /// The value as it was said.
    pub requested: String,
    /// Where it was said, for users.
    pub source: String,
    /// The value that acts; none where none does.
    pub in_force: Option<String>,
    /// Why it is not the one requested; empty where it is.
    pub why: String,
}

impl Hints {
    /// What a request means. What cannot be understood is left out, with a reason in the report.
    pub fn from_request(request: &Request) -> Hints {
        let settings = TABLE.iter().map(Setting::by_default).collect();
        let mut hints = Hints::of_settings(settings);
        for entry in request.entries() {
            if let Some(row) = table::find_word(&entry.key) {
                hints.settings[row].accept(&TABLE[row], entry);
            }
        }
        hints.notes = request.notes().to_vec();
        hints.with_fields_renewed()
    }

    /// Takes the hints given to `MPI_File_set_info` or `MPI_File_set_view`.
    pub fn set(&mut self, entries: &[(String, String)]) {
        self.update(&Request::of_info(entries));
    }

    /// As `set`, with a request that the ranks agreed on.
    pub fn update(&mut self, request: &Request) {
        for entry in request.entries() {
            if let Some(row) = table::find_word(&entry.key) {
                self.settings[row].accept_later(&TABLE[row], entry);
            }
        }
        *self = self.clone().with_fields_renewed();
    }

    /// The answer to `MPI_File_get_info`, in the table's order: what is in force and what is
    /// known about the file. A hint that nothing follows from is not answered.
    pub fn entries(&self, facts: &Facts) -> Vec<(String, String)> {
        let rows = TABLE.iter().zip(&self.settings);
        rows.filter(|(row, _)| !matches!(row.effect, Effect::Never(_) | Effect::Later(_)))
            .filter_map(|(row, setting)| match facts.word(row.name, setting.value.as_deref()) {
                Word::Is(value, _) => Some((row.name, value)),
                Word::Silent => Some((row.name, setting.value.clone()?)),
                Word::Absent(_) => None,
            })
            .filter(|(_, value)| value.len() <= LONGEST_VALUE)
            .map(|(name, value)| (name.to_string(), value))
            .collect()
    }

    /// The hints somebody said something about.
    pub fn changed(&self, facts: &Facts) -> Vec<Line> {
        let rows = TABLE.iter().zip(&self.settings);
        rows.filter_map(|(row, setting)| setting.line(row, facts)).collect()
    }

    /// What the user should know about the places hints were read from.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The hints as text for `mpiio_rs_verbose`, in the layout that `MPICH_MPIIO_HINTS_DISPLAY`
    /// made familiar. After a value comes who asked for it, and why it is another or not in force.
    pub fn display(&self, facts: &Facts) -> String {
        let (answered, changed) = (self.entries(facts), self.changed(facts));
        let mut text = format!("PE 0: MPIIO hints for {}:\n", facts.filename);
        let mut show = |key: &str, value: &str, line: Option<&Line>| {
            let told = line.map(|line| format!("  ({})", line.told(value))).unwrap_or_default();
            let _ = writeln!(text, "          {key:<24} = {value}{told}");
        };
        for (key, value) in &answered {
            show(key, value, changed.iter().find(|line| line.key == key));
        }
        for line in changed.iter().filter(|line| answered.iter().all(|(key, _)| line.key != key)) {
            show(line.key, &line.requested, Some(line));
        }
        for note in &self.notes {
            let _ = writeln!(text, "          {note}");
        }
        text
    }

    fn of_settings(settings: Vec<Setting>) -> Hints {
        Hints {
            romio_ds_read: Toggle::Automatic,
            romio_ds_write: Toggle::Automatic,
            ind_rd_buffer_size: 0,
            ind_wr_buffer_size: 0,
            num_threads: 0,
            cb_buffer_size: 0,
            cb_nodes: None,
            cb_config_list: None,
            progress: true,
            layers: String::new(),
            partitioning: String::new(),
            transfer: String::new(),
            overlap: String::new(),
            local_aggregators: 0,
            lustre_co_ratio: None,
            nodes_multiplier: None,
            fitting_stripes: false,
            lock_ahead: String::new(),
            lock_ahead_reads: false,
            lock_ahead_individual: String::new(),
            lock_ahead_requests: String::new(),
            lock_ahead_most: 0,
            data_shipping: false,
            data_shipping_agents: Vec::new(),
            data_shipping_partition: 0,
            declare_ranges: false,
            fine_grain_writes: false,
            clear_cache: false,
            prefetch: Toggle::Automatic,
            direct_read: false,
            direct_write: false,
            direct_io: false,
            coll_threshold: None,
            ds_in_coll: Toggle::Automatic,
            romio_cb_read: Toggle::Automatic,
            romio_cb_write: Toggle::Automatic,
            no_indep_rw: false,
            striping_factor: None,
            striping_unit: None,
            start_iodevice: None,
            access_style: None,
            file_perm: None,
            filesystem: None,
            report: Wanted::Nothing,
            verbose: false,
            settings,
            notes: Vec::new(),
        }
    }

    /// The same with the typed fields read again from the settings.
    fn with_fields_renewed(mut self) -> Hints {
        self.romio_ds_read = self.toggle("romio_ds_read");
        self.romio_ds_write = self.toggle("romio_ds_write");
        self.ind_rd_buffer_size = self.number("ind_rd_buffer_size").unwrap_or(1);
        self.ind_wr_buffer_size = self.number("ind_wr_buffer_size").unwrap_or(1);
        self.num_threads = self.number("mpiio_rs_num_threads").unwrap_or(0);
        self.cb_buffer_size = self.number("cb_buffer_size").unwrap_or(1);
        self.cb_nodes = self.number("cb_nodes").filter(|&number| number > 0);
        let said = self.setting("cb_config_list").accepted.is_some();
        let list = self.text("cb_config_list").filter(|_| said);
        self.cb_config_list = list.map(String::from);
        self.progress = self.text("mpiio_rs_progress") != Some("none");
        self.layers = self.text("mpiio_rs_layers").unwrap_or_default().into();
        self.partitioning = self.text("mpiio_rs_partitioning").unwrap_or_default().into();
        self.transfer = self.text("mpiio_rs_transfer").unwrap_or_default().into();
        self.overlap = self.text("mpiio_rs_overlap").unwrap_or_default().into();
        self.local_aggregators = self.number("mpiio_rs_local_aggregators").unwrap_or(0);
        self.lustre_co_ratio = self.number("romio_lustre_co_ratio");
        self.nodes_multiplier = self.number("cray_cb_nodes_multiplier");
        self.coll_threshold = self.number("romio_lustre_coll_threshold");
        self.ds_in_coll = self.toggle("romio_lustre_ds_in_coll");
        self.renew_preparation();
        self.romio_cb_read = self.toggle("romio_cb_read");
        self.romio_cb_write = self.toggle("romio_cb_write");
        self.no_indep_rw = self.boolean("romio_no_indep_rw");
        self.striping_factor = self.number("striping_factor").filter(|&number: &i64| number != 0);
        self.striping_unit = self.number("striping_unit").filter(|&number| number > 0);
        self.start_iodevice = self.number("start_iodevice"); // -1 is no u64: none
        self.access_style = self.text("access_style").map(String::from);
        self.file_perm = self.text("file_perm").and_then(value::permissions);
        let prefix = self.text("romio_filesystem_type");
        self.filesystem = prefix.map(|prefix| prefix.trim_end_matches(':').to_ascii_lowercase());
        self.report = self.text("mpiio_rs_report").and_then(Wanted::parse).unwrap_or_default();
        self.verbose = self.boolean("mpiio_rs_verbose");
        self
    }

    /// What a file system is asked for when a file is opened.
    fn renew_preparation(&mut self) {
        self.fitting_stripes = self.text("mpiio_rs_fitting_stripes") != Some("false");
        let asked = self.boolean("romio_lustre_cb_lock_ahead_write")
            || self.number("cray_cb_write_lock_mode").is_some_and(|mode: u64| mode > 0);
        let said = self.text("mpiio_rs_lock_ahead").unwrap_or("automatic");
        self.lock_ahead = if said == "automatic" && asked { "global".into() } else { said.into() };
        self.lock_ahead_reads = self.boolean("romio_lustre_cb_lock_ahead_read");
        let individual = self.text("mpiio_rs_lock_ahead_individual").unwrap_or("automatic");
        self.lock_ahead_individual = individual.into();
        let requests = self.text("mpiio_rs_lock_ahead_requests").unwrap_or_default();
        self.lock_ahead_requests = requests.into();
        self.lock_ahead_most = self.number("mpiio_rs_lock_ahead_extents").unwrap_or(500);
        self.data_shipping = self.boolean("mpiio_rs_data_shipping");
        let agents = self.text("mpiio_rs_data_shipping_agents").unwrap_or_default();
        let agents = agents.split([',', ' ', '+']).filter_map(|number| number.parse().ok());
        self.data_shipping_agents = agents.collect();
        self.data_shipping_partition = self.number("mpiio_rs_data_shipping_partition").unwrap_or(0);
        self.declare_ranges = self.boolean("mpiio_rs_declare_ranges");
        self.fine_grain_writes = self.boolean("mpiio_rs_fine_grain_writes");
        self.clear_cache = self.boolean("mpiio_rs_clear_cache");
        self.prefetch = self.toggle("mpiio_rs_prefetch");
        self.direct_read = self.boolean("direct_read");
        self.direct_write = self.boolean("direct_write");
        self.direct_io = self.boolean("direct_io");
    }

    fn setting(&self, name: &str) -> &Setting {
        let row = table::find(name).expect("a field is read from a row of the table");
        &self.settings[row]
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.setting(name).value.as_deref()
    }

    fn number<T: std::str::FromStr>(&self, name: &str) -> Option<T> {
        self.text(name)?.parse().ok()
    }

    fn toggle(&self, name: &str) -> Toggle {
        self.text(name).and_then(value::toggle).unwrap_or_default()
    }

    fn boolean(&self, name: &str) -> bool {
        self.text(name).and_then(value::truth).unwrap_or(false)
    }
}

impl Setting {
    fn by_default(row: &Row) -> Setting {
        let value = (!row.default.is_empty()).then(|| row.default.to_string());
        Setting { value, ..Setting::default() }
    }

    fn accept(&mut self, row: &Row, entry: &Entry) {
        match value::canonical(row.kind, &entry.value) {
            Ok(value) => {
                let accepted = Some(entry.clone());
                *self = Setting { accepted, refused: None, value: Some(value) };
            }
            Err(why) => self.refused = Some((entry.clone(), why)),
        }
    }

    /// As `accept`, after the file was opened. Libraries give the info of the open again with
    /// every view, so what would change nothing is no reason for a note.
    fn accept_later(&mut self, row: &Row, entry: &Entry) {
        let value = value::canonical(row.kind, &entry.value).ok();
        if value.is_some() && value == self.value {
            return;
        }
        let stronger = self.accepted.as_ref().filter(|held| held.source > entry.source);
        if let Some(held) = stronger {
            let why = format!("{} is stronger", held.place(row));
            self.refused = Some((entry.clone(), why));
        } else if row.when == When::Open {
            let why = "it is only listened to at open".to_string();
            self.refused = Some((entry.clone(), why));
        } else {
            self.accept(row, entry);
        }
    }

    fn line(&self, row: &'static Row, facts: &Facts) -> Option<Line> {
        let (entry, refusal) = match (&self.refused, &self.accepted) {
            (Some((entry, why)), _) => (entry, why.as_str()),
            (None, Some(entry)) => (entry, ""),
            (None, None) => return None,
        };
        let (value, mut why) = match facts.word(row.name, self.value.as_deref()) {
            Word::Silent => (self.value.clone(), String::new()),
            Word::Absent(why) => (None, why),
            Word::Is(value, _) if self.is_forced(row, &value) => (Some(value), String::new()),
            Word::Is(value, why) if Some(&value) != self.value.as_ref() => (Some(value), why),
            Word::Is(value, _) => (Some(value), String::new()),
        };
        if !refusal.is_empty() {
            why = refusal.into();
        }
        let in_force = match row.effect {
            Effect::Now => value,
            Effect::Later(_) | Effect::Never(_) if !refusal.is_empty() => None,
            Effect::Later(reason) | Effect::Never(reason) => {
                why = reason.into();
                None
            }
        };
        let source = entry.place(row);
        Some(Line { key: row.name, requested: entry.value.trim().into(), source, in_force, why })
    }

    /// Whether a driver that was asked for by its prefix is the one in use.
    fn is_forced(&self, row: &Row, value: &str) -> bool {
        let prefix = self.value.as_deref().unwrap_or_default().trim_end_matches(':');
        let driver = value.split(':').next().unwrap_or_default();
        row.kind == Kind::ReadOnly && driver.eq_ignore_ascii_case(prefix)
    }
}

impl Entry {
    /// Where it was said, for users: a variable by its name, an alias with its place.
    fn place(&self, row: &Row) -> String {
        match &self.key {
            key if key == row.name => self.source.to_string(),
            key if row.variables.contains(&key.as_str()) => key.clone(),
            key => format!("{key} in {}", self.source),
        }
    }
}

impl Line {
    /// Who asked, for what if it is not the value shown, and why it is not in force.
    fn told(&self, shown: &str) -> String {
        let mut told = self.source.clone();
        if self.requested != shown {
            let _ = write!(told, ": {}", self.requested);
        }
        match &self.in_force {
            Some(_) if self.why.is_empty() => told,
            Some(_) => format!("{told}; {}", self.why),
            None => format!("{told}; not in force: {}", self.why),
        }
    }
}

#[cfg(test)]
mod tests;
