! A data representation from the module mpi_f08: what can be registered, and that its functions
! are called with Fortran's conventions.
module representation
  use mpi_f08
  implicit none
  integer :: errors = 0
contains
  subroutine turn_back(userbuf, datatype, count, filebuf, position, extra_state, ierror)
    use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
    type(c_ptr), value :: userbuf, filebuf
    type(MPI_Datatype) :: datatype
    integer :: count, ierror
    integer(MPI_OFFSET_KIND) :: position
    integer(MPI_ADDRESS_KIND) :: extra_state
    integer, pointer :: user(:), file(:)
    ierror = MPI_ERR_CONVERSION
    if (datatype /= MPI_INTEGER .or. extra_state /= 4711) return
    call c_f_pointer(userbuf, user, [int(position) + count])
    call c_f_pointer(filebuf, file, [count])
    user(position + 1:position + count) = -file
    ierror = MPI_SUCCESS
  end subroutine

  subroutine turn(userbuf, datatype, count, filebuf, position, extra_state, ierror)
    use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
    type(c_ptr), value :: userbuf, filebuf
    type(MPI_Datatype) :: datatype
    integer :: count, ierror
    integer(MPI_OFFSET_KIND) :: position
    integer(MPI_ADDRESS_KIND) :: extra_state
    integer, pointer :: user(:), file(:)
    ierror = MPI_ERR_CONVERSION
    if (datatype /= MPI_INTEGER .or. extra_state /= 4711) return
    call c_f_pointer(userbuf, user, [int(position) + count])
    call c_f_pointer(filebuf, file, [count])
    file = -user(position + 1:position + count)
    ierror = MPI_SUCCESS
  end subroutine

  subroutine extent_of(datatype, extent, extra_state, ierror)
    type(MPI_Datatype) :: datatype
    integer(MPI_ADDRESS_KIND) :: extent, extra_state, lower
    integer :: ierror
    call MPI_Type_get_extent(datatype, lower, extent, ierror)
    if (extra_state /= 4711) ierror = MPI_ERR_CONVERSION
  end subroutine

  subroutine check(condition, text)
    logical, intent(in) :: condition
    character(*), intent(in) :: text
    if (condition) return
    errors = errors + 1
    print *, 'failed: ', text
  end subroutine
end module

program main
  use mpi_f08
  use representation
  implicit none
  type(MPI_File) :: fh
  integer :: code, class, rank, total, numbers(4), back(4), i
  integer(MPI_ADDRESS_KIND) :: extra_state = 4711

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Register_datarep('turned', turn_back, turn, extent_of, extra_state, code)
  call check(code == MPI_SUCCESS, 'register')
  call MPI_Register_datarep('turned', turn_back, turn, extent_of, extra_state, code)
  call MPI_Error_class(code, class)
  call check(class == MPI_ERR_DUP_DATAREP, 'register again')
  call MPI_Register_datarep('unchanged', MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, &
                            extent_of, extra_state)

  call MPI_File_open(MPI_COMM_WORLD, 'doorway_datarep_f08.dat', &
                     MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, fh, code)
  call check(code == MPI_SUCCESS, 'open')
  call MPI_File_set_view(fh, 0_MPI_OFFSET_KIND, MPI_INTEGER, MPI_INTEGER, 'turned', &
                         MPI_INFO_NULL, code)
  call check(code == MPI_SUCCESS, 'view')
  numbers = [(100 * rank + i, i = 1, 4)]
  back = 0
  call MPI_File_write_at_all(fh, 4_MPI_OFFSET_KIND * rank, numbers, 4, MPI_INTEGER, &
                             MPI_STATUS_IGNORE, code)
  call check(code == MPI_SUCCESS, 'write')
  call MPI_File_read_at_all(fh, 4_MPI_OFFSET_KIND * rank, back, 4, MPI_INTEGER, &
                            MPI_STATUS_IGNORE, code)
  call check(code == MPI_SUCCESS .and. all(back == numbers), 'read what was written')
  call MPI_File_set_view(fh, 0_MPI_OFFSET_KIND, MPI_INTEGER, MPI_INTEGER, 'unchanged', &
                         MPI_INFO_NULL, code)
  call check(code == MPI_SUCCESS, 'second view')
  call MPI_File_read_at_all(fh, 4_MPI_OFFSET_KIND * rank, back, 4, MPI_INTEGER, &
                            MPI_STATUS_IGNORE, code)
  call check(code == MPI_SUCCESS .and. all(back == -numbers), 'turned in the file')
  call MPI_File_close(fh)

  call MPI_Barrier(MPI_COMM_WORLD)
  if (rank == 0) call MPI_File_delete('doorway_datarep_f08.dat', MPI_INFO_NULL)
  call MPI_Allreduce(errors, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  if (rank == 0 .and. total == 0) print '(a)', 'No Errors'
  call MPI_Finalize()
  if (total /= 0) stop 1
end program
