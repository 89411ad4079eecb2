//! How much of each resource there is room for.

/// Divides room among needs: nobody gets more than is needed, and those who need more than their
/// share get as much as each other.
pub(super) fn shares(room: usize, needs: &[usize]) -> Vec<usize> {
    let mut shares = vec![0; needs.len()];
    let mut places: Vec<usize> = (0..needs.len()).collect();
    places.sort_by_key(|place| needs.get(*place));
    let (mut room, mut left) = (room, needs.len());
    for place in places {
        let share = room / left.max(1);
        left = left.saturating_sub(1);
        if let (Some(given), Some(need)) = (shares.get_mut(place), needs.get(place)) {
            *given = share.min(*need);
            room -= *given;
        }
    }
    shares
}

/// Divides room among resources, of each server within its own limit.
pub(super) fn shares_of_servers(room: usize, servers: &[(usize, Vec<usize>)]) -> Vec<Vec<usize>> {
    let needs: Vec<usize> = servers
        .iter()
        .map(|(limit, needs)| needs.iter().sum::<usize>().min(*limit))
        .collect();
    let rooms = shares(room, &needs);
    let servers = servers.iter().zip(rooms);
    servers
        .map(|((_, needs), room)| shares(room, needs))
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn small_needs_leave_more_to_the_others() {
        assert_eq!(shares(100, &[10, 500, 500]), [10, 45, 45]);
        assert_eq!(shares(100, &[10, 20]), [10, 20]);
        assert_eq!(shares(0, &[10]), [0]);
        assert!(shares(100, &[]).is_empty());
    }

    #[test]
    fn the_limit_of_a_server_holds_for_its_resources() {
        let servers = [(50, vec![100, 100]), (1_000, vec![40, 400])];
        assert_eq!(shares_of_servers(250, &servers), [[25, 25], [40, 160]]);
    }

    proptest! {
        #[test]
        fn nobody_gets_too_much_and_nothing_is_wasted(
            room in 0usize..1_000,
            needs in proptest::collection::vec(0usize..500, 0..8),
        ) {
            let shares = shares(room, &needs);
            prop_assert!(shares.iter().zip(&needs).all(|(share, need)| share <= need));
            let given: usize = shares.iter().sum();
            let needed: usize = needs.iter().sum();
            prop_assert!(given <= room);
            prop_assert!(given == needed || room - given < needs.len());
        }
    }
}
